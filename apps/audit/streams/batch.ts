import type { Restart, Retention } from "@ostiary/lib/domain/proof";
import { type EventRow, eventOf, withoutOutcome, withoutPerson } from "../events/event.ts";

/** The maximum number of entries in one delivery request. */
export const BATCH_ENTRIES_MAX = 100;
/** The maximum number of bytes in the body of a delivery request with more than one entry. */
export const BATCH_BYTES_MAX = 262_144;

/** A position of a chain, and the running hash there in hexadecimal. */
export interface ChainPlace {
  position: number;
  chain: string;
}

/** An entry of a chain that no event wrote: retention drops a month, or the chain was restarted. */
export type Declaration = { kind: "retention"; content: Retention } | { kind: "restart"; content: Restart };

/** An entry of a chain as a stream reads it. */
export interface EntryRow extends ChainPlace {
  is_outcome: boolean;
  /** The salt in hexadecimal, or null for an entry whose event was dropped. */
  salt: string | null;
  occurred_at: string;
  /** Null for declarations, and if retention has dropped the event. */
  event: (EventRow & { named_by_outcome: boolean | null; intent_member_id: string | null }) | null;
  /** Null for the entries of events. */
  declaration: Declaration | null;
}

type OrganizationEvent = ReturnType<typeof withoutPerson>;

/** An entry as a receiver gets it (AU-102). */
type StreamEntry = ChainPlace &
  (
    | { kind: "intent"; salt: string; event: OrganizationEvent }
    | { kind: "outcome"; salt: string; named_by_outcome: boolean; event: OrganizationEvent }
    | { kind: "retention"; salt: string; retention: Retention }
    | { kind: "restart"; salt: string; restart: Restart }
    | { kind: "dropped" }
  );

/** Returns an entry as a receiver gets it: with the event as it was when the entry was written. */
export function streamEntry(entry: EntryRow): StreamEntry {
  const { position, chain, salt, is_outcome, event, declaration } = entry;
  if (declaration !== null) return { position, salt: salt ?? "", chain, ...declaredOf(declaration) };
  if (event === null) return { position, kind: "dropped", chain };
  const { named_by_outcome, intent_member_id, ...row } = event;
  const named = named_by_outcome === true;
  const text = salt ?? "";
  const shown = (state: EventRow) => withoutPerson(eventOf(state));
  return is_outcome
    ? { position, kind: "outcome", salt: text, chain, named_by_outcome: named, event: shown(row) }
    : {
        position,
        kind: "intent",
        salt: text,
        chain,
        event: shown(withoutOutcome(row, named, intent_member_id)),
      };
}

function declaredOf({ kind, content }: Declaration) {
  if (kind === "retention") {
    const { month, declared_at } = content;
    return { kind, retention: { month, declared_at } };
  }
  const { from, declared_at } = content;
  return { kind, restart: { from, declared_at } };
}

/** The body of a delivery request, and the entries that it covers. */
export interface Batch {
  /** Null if the format leaves out all entries. */
  body: Buffer | null;
  entries: EntryRow[];
}

/** The stream that a batch belongs to. */
export interface BatchStream {
  id: string;
  organization_id: string;
  after: ChainPlace;
}

/** Builds the body of a delivery request from the first `rows` that fit into {@link BATCH_BYTES_MAX}, at least one. */
export function ostiaryBatch(stream: BatchStream, rows: readonly EntryRow[], nowMs: number): Batch {
  const { id: stream_id, organization_id, after } = stream;
  const head = JSON.stringify({ type: "audit.entries", timestamp: new Date(nowMs).toISOString() }).slice(
    0,
    -1,
  );
  const data = JSON.stringify({ stream_id, organization_id, after }).slice(0, -1);
  const { texts, entries } = fitting(rows, (row) => JSON.stringify(streamEntry(row)));
  return { body: Buffer.from(`${head},"data":${data},"entries":[${texts.join(",")}]}}`), entries };
}

/**
 * Returns the first rows whose texts fit into {@link BATCH_BYTES_MAX}, at least one row. Counts `moreBytes` for
 * each row in addition to its text.
 */
export function fitting<Row>(
  rows: readonly Row[],
  spell: (row: Row) => string,
  moreBytes = 0,
): { texts: string[]; entries: Row[] } {
  const texts: string[] = [];
  const entries: Row[] = [];
  let bytes = 512;
  for (const row of rows) {
    const text = spell(row);
    bytes += Buffer.byteLength(text) + 1 + moreBytes;
    if (entries.length > 0 && bytes > BATCH_BYTES_MAX) break;
    texts.push(text);
    entries.push(row);
  }
  return { texts, entries };
}
