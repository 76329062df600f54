import { type ChainPosition, type EntryRow, streamEntry } from "./entry.ts";
import { ocsfEvent } from "./ocsf.ts";
import type { AuditStream } from "./stream.ts";

/** The maximum number of entries in one delivery request. */
export const BATCH_ENTRIES_MAX = 100;
/** The maximum number of bytes in the body of a delivery request with more than one entry. */
export const BATCH_BYTES_MAX = 262_144;
/** The maximum number of bytes that an organization adds to a body, without its entries. */
const PART_BYTES_MAX = 512;

/** The id of the operator's stream, whose delivery requests have entries of several organizations. */
export const OPERATOR_STREAM = "operator";

/** Entries of one organization. */
export interface Part {
  organization_id: string;
  /** The position of the entry before `entries`. */
  after: ChainPosition;
  entries: readonly EntryRow[];
}

/** A delivery request, and the entries of each organization that it covers. */
interface Batch<Given extends Part> {
  /** Null if the format leaves out all entries. */
  body: Buffer | null;
  parts: Given[];
}

/** Builds a delivery request from as many of the first entries as fit into {@link BATCH_BYTES_MAX}, at least one. */
export function batchOf<Given extends Part>(
  { id, format }: Pick<AuditStream, "id" | "format">,
  given: readonly Given[],
  nowMs: number,
): Batch<Given> {
  const spell = format === "ocsf" ? ocsfText : (_: Part, row: EntryRow) => JSON.stringify(streamEntry(row));
  const taken = fitting(given, spell);
  const parts = taken.map(({ part }) => part);
  if (format === "ocsf") {
    const events = taken.flatMap(({ texts }) => texts).filter((text) => text !== "");
    return { body: events.length === 0 ? null : Buffer.from(`[${events.join(",")}]`), parts };
  }
  const fields = taken.map(
    ({ part: { organization_id, after }, texts }) =>
      `"organization_id":${JSON.stringify(organization_id)},"after":${JSON.stringify(after)},"entries":[${texts.join(",")}]`,
  );
  const entries =
    id === OPERATOR_STREAM
      ? `"organizations":[${fields.map((part) => `{${part}}`).join(",")}]`
      : fields.join(",");
  const timestamp = new Date(nowMs).toISOString();
  const data = `{"stream_id":"${id}",${entries}}`;
  return { body: Buffer.from(`{"type":"audit.entries","timestamp":"${timestamp}","data":${data}}`), parts };
}

/** Returns the API Activity event of an entry as JSON, or an empty text for an entry that is left out. */
function ocsfText(part: Part, row: EntryRow): string {
  const event = ocsfEvent(part, row);
  return event === null ? "" : JSON.stringify(event);
}

/** Returns the parts whose entries fit into a body, with the text of each entry. The last part may be cut. */
function fitting<Given extends Part>(
  parts: readonly Given[],
  spell: (part: Part, row: EntryRow) => string,
): { part: Given; texts: string[] }[] {
  const taken: { part: Given; texts: string[] }[] = [];
  let bytes = 0;
  for (const part of parts) {
    const texts: string[] = [];
    bytes += PART_BYTES_MAX;
    for (const row of part.entries) {
      const text = spell(part, row);
      bytes += Buffer.byteLength(text) + 1;
      const isFirst = taken.length === 0 && texts.length === 0;
      if (bytes > BATCH_BYTES_MAX && !isFirst) break;
      texts.push(text);
    }
    if (texts.length > 0)
      taken.push({ part: { ...part, entries: part.entries.slice(0, texts.length) }, texts });
    if (texts.length < part.entries.length) break;
  }
  return taken;
}
