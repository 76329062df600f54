import Negotiator from "negotiator";
import type { ExportFormat } from "./event-export.ts";

const JSON_TYPE = "application/json";
const formats: ReadonlyMap<string, ExportFormat> = new Map([
  ["text/csv", "csv"],
  ["application/x-ndjson", "ndjson"],
]);
const available = [JSON_TYPE, ...formats.keys()];

/**
 * The export that an Accept header asks for (contract 6, Beyond the specification); null for the page in JSON,
 * which is also the answer when nothing that we have is accepted.
 */
export function exportFormat(accept: string | null): ExportFormat | null {
  const [preferred] = new Negotiator({ headers: { accept: accept ?? undefined } }).mediaTypes(available);
  return formats.get(preferred ?? JSON_TYPE) ?? null;
}
