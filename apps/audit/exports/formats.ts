import type { UserEvent } from "@ostiary/lib/contracts/audit";
import { stringify } from "csv-stringify/sync";
import Negotiator from "negotiator";
import { type EventLog, withoutPerson } from "../events/event.ts";

export type ExportFormat = "csv" | "ndjson";

const NDJSON_TYPE = "application/x-ndjson";

const contentTypes = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: NDJSON_TYPE,
} as const satisfies Record<ExportFormat, string>;

const JSON_TYPE = "application/json";
const formats: ReadonlyMap<string, ExportFormat> = new Map([
  ["text/csv", "csv"],
  [NDJSON_TYPE, "ndjson"],
]);
const available = [JSON_TYPE, ...formats.keys()];

/**
 * Returns the export format that an Accept header prefers (AU-41). Null means the JSON page, which is also
 * the answer if no available type is accepted.
 */
export function exportFormat(accept: string | null): ExportFormat | null {
  const [preferred] = new Negotiator({ headers: { accept: accept ?? undefined } }).mediaTypes(available);
  return formats.get(preferred ?? JSON_TYPE) ?? null;
}

/** Returns whether an Accept header accepts NDJSON. */
export function acceptsNdjson(accept: string | null): boolean {
  return new Negotiator({ headers: { accept: accept ?? undefined } }).mediaTypes([NDJSON_TYPE]).length > 0;
}

export function exportHeaders(format: ExportFormat): Record<string, string> {
  return {
    "Content-Type": contentTypes[format],
    "Content-Disposition": `attachment; filename="audit-events.${format}"`,
    Vary: "Accept",
  };
}

/**
 * Formats batches of events: yields the chunks of an export's body. The CSV header goes with the first batch,
 * so that no byte is sent before the database has answered.
 */
export async function* exportChunks(
  format: ExportFormat,
  log: EventLog,
  batches: AsyncIterable<UserEvent[]>,
): AsyncGenerator<string, void, void> {
  const columns = log.kind === "user" ? userColumns : organizationColumns;
  let head = format === "csv" ? csv([columns]) : "";
  for await (const events of batches) {
    yield head +
      (format === "csv"
        ? csv(events.map((event) => columns.map((column) => csvCells[column](event))))
        : events
            .map((event) => `${JSON.stringify(log.kind === "user" ? event : withoutPerson(event))}\n`)
            .join(""));
    head = "";
  }
  if (head !== "") yield head;
}

type Cell = string | number | null;

const csvCells = {
  id: (event) => event.id,
  occurred_at: (event) => event.occurred_at,
  request_id: (event) => event.request_id,
  organization_id: (event) => event.organization_id,
  user_id: (event) => event.user_id,
  actor_member_id: (event) => event.actor.member_id,
  actor_auth_type: (event) => event.actor.auth_type,
  actor_key_prefix: (event) => event.actor.key_prefix,
  service: (event) => event.service,
  method: (event) => event.method,
  route: (event) => event.route,
  params: (event) => JSON.stringify(event.params),
  ip: (event) => event.ip,
  user_agent: (event) => event.user_agent,
  outcome: (event) => event.outcome,
  status: (event) => event.status,
  details: (event) => (event.details === null ? null : JSON.stringify(event.details)),
  created_id: (event) => event.created_id,
} satisfies Record<string, (event: UserEvent) => Cell>;

type CsvColumn = keyof typeof csvCells;
const userColumns = Object.keys(csvCells).filter((name): name is CsvColumn => name in csvCells);
const organizationColumns = userColumns.filter((name) => name !== "user_id");

/**
 * Formats rows as CSV. `escape_formulas` puts a `'` in front of a cell that a spreadsheet would run (`=`,
 * `+`, `-`, `@`, tab, CR first).
 */
function csv(rows: Cell[][]): string {
  return stringify(rows, { escape_formulas: true });
}
