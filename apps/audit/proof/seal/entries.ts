import type { UserEvent } from "@ostiary/lib/contracts/audit";
import {
  contentHash,
  eventEntryHash,
  type Hash,
  intentContent,
  monthOfTime,
  outcomeContent,
  ownerOf,
} from "@ostiary/lib/domain/proof";
import { type EventRow, eventOf, withoutPerson } from "../../events/event.ts";

/** An event with all fields that its entries need. */
export interface StoredRow extends EventRow {
  /** The transactions that wrote the intent and the outcome. `outcome_xid` is null for an event without an outcome. */
  intent_xid: string | null;
  outcome_xid: string | null;
  /** The salt of the intent, in hexadecimal like the salt of the outcome. */
  intent_salt: string | null;
  outcome_salt: string | null;
  named_by_outcome: boolean | null;
  intent_member_id: string | null;
}

/** An event whose intent or outcome may lack an entry. */
export interface UnsealedRow extends StoredRow {
  intent_due: boolean;
  outcome_due: boolean;
  /** The entries that the event has: the ids of their chains, each with `i` or `o`, separated by commas. */
  sealed_in: string | null;
}

export interface NewEntry {
  owner: string;
  row: { event_id: string; occurred_at: string; is_outcome: boolean };
  /** The hash of the intent's or outcome's content, which outlives the content. */
  content: Hash;
  hash: Hash;
}

export interface EventPart<Row extends StoredRow = StoredRow> {
  row: Row;
  is_outcome: boolean;
}

export function ownersOf({
  user_id,
  organization_id,
}: Pick<StoredRow, "user_id" | "organization_id">): string[] {
  return [
    ...(user_id === null ? [] : [ownerOf("user", user_id)]),
    ...(organization_id === null ? [] : [ownerOf("organization", organization_id)]),
  ];
}

/** Returns the due intents and outcomes of rows, in the order of the transactions that wrote them. */
export function partsInOrder(rows: readonly UnsealedRow[]): EventPart<UnsealedRow>[] {
  const parts = rows.flatMap((row) => {
    const intent_xid = BigInt(row.intent_xid ?? 0);
    const outcome_xid = BigInt(row.outcome_xid ?? 0);
    return [
      ...(row.intent_due ? [{ row, is_outcome: false, xid: intent_xid }] : []),
      ...(row.outcome_due
        ? [{ row, is_outcome: true, xid: outcome_xid < intent_xid ? intent_xid : outcome_xid }]
        : []),
    ];
  });
  return parts.toSorted(
    (a, b) =>
      compare(a.xid, b.xid) || compare(a.row.id, b.row.id) || Number(a.is_outcome) - Number(b.is_outcome),
  );
}

/**
 * Returns the entries of an intent or outcome, one in each log that it belongs to. If the outcome added the event to a
 * log, that log gets the entries of both with the outcome.
 *
 * @throws Error if the row lacks something that the service always writes
 */
export function entriesOf({ row, is_outcome }: EventPart): NewEntry[] {
  const event = eventOf(row);
  return ownersOf(row).flatMap((owner) => {
    const isPersons = owner.startsWith("user:");
    const view = isPersons ? event : withoutPerson(event);
    const joins = !isPersons && row.named_by_outcome === true;
    return [
      ...(joins === is_outcome ? [entryOf(row, owner, view, false)] : []),
      ...(is_outcome ? [entryOf(row, owner, view, true)] : []),
    ];
  });
}

/** Returns the entry of an event's intent or outcome in the log of an owner; null if that log does not have it. */
export function entryIn(owner: string, row: StoredRow, is_outcome: boolean): NewEntry | null {
  // an outcome that named the organization has both entries of the event
  const parts = row.outcome === "pending" ? [false] : [false, true];
  const entries = parts.flatMap((part) => entriesOf({ row, is_outcome: part }));
  return entries.find((entry) => entry.owner === owner && entry.row.is_outcome === is_outcome) ?? null;
}

function entryOf(
  row: StoredRow,
  owner: string,
  event: UserEvent | ReturnType<typeof withoutPerson>,
  is_outcome: boolean,
): NewEntry {
  const salt = is_outcome ? row.outcome_salt : row.intent_salt;
  if (salt === null) throw new Error(`The event ${row.id} has no salt.`);
  const write = is_outcome ? outcomeContent : intentContent;
  const named = row.named_by_outcome ? { intent_member_id: row.intent_member_id } : null;
  const content = contentHash(write(event, named, salt));
  const { occurred_at } = event;
  const hash = eventEntryHash(content, monthOfTime(occurred_at));
  return { owner, row: { event_id: row.id, occurred_at, is_outcome }, content, hash };
}

/** Compares numbers, or texts by their code units. Returns -1, 0 or 1. */
export function compare<Value extends string | bigint>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
