import type { UserEvent } from "@ostiary/lib/contracts/audit";
import {
  entryHash,
  type Hash,
  intentEntry,
  outcomeEntry,
  ownerOf,
  type WrittenByIntent,
} from "@ostiary/lib/domain/proof";
import { type EventRow, eventOf, withoutPerson } from "../events/event.ts";

/** An event of which something is to be sealed. */
export interface UnsealedRow extends EventRow {
  /** The transactions that wrote the intent and the outcome; null for what was written before the log was proved. */
  intent_xid: string | null;
  outcome_xid: string | null;
  /** In hexadecimal. */
  intent_salt: string | null;
  outcome_salt: string | null;
  named_by_outcome: boolean | null;
  intent_member_id: string | null;
  /** Which of the two are to be sealed. */
  intent_due: boolean;
  outcome_due: boolean;
  /** Whether the request id is claimed for this event, as whatever the service writes is. */
  claimed: boolean;
}

/** An entry that has no place yet. */
export interface NewEntry {
  owner: string;
  event_id: string;
  occurred_at: string;
  is_outcome: boolean;
  hash: Hash;
  /** A salt that its event does not hold, in hexadecimal. */
  own_salt: string | null;
}

/** The values that an intent wrote and its outcome replaced. */
export function writtenByIntent(
  row: Pick<UnsealedRow, "named_by_outcome" | "intent_member_id">,
): WrittenByIntent {
  return row.named_by_outcome ? { organization_id: null, member_id: row.intent_member_id } : null;
}

/** One of the two halves of an event, to be sealed. */
export interface DuePart {
  row: UnsealedRow;
  is_outcome: boolean;
}

/** What is due of rows, in the order of the transactions that wrote it: the earlier number first. */
export function partsInOrder(rows: readonly UnsealedRow[]): DuePart[] {
  const parts = rows.flatMap((row) => {
    const intentXid = BigInt(row.intent_xid ?? 0);
    const outcomeXid = BigInt(row.outcome_xid ?? 0);
    return [
      ...(row.intent_due ? [{ row, is_outcome: false, xid: intentXid }] : []),
      ...(row.outcome_due
        ? [{ row, is_outcome: true, xid: outcomeXid < intentXid ? intentXid : outcomeXid }]
        : []),
    ];
  });
  return parts.toSorted(
    (a, b) =>
      compare(a.xid, b.xid) || compare(a.row.id, b.row.id) || Number(a.is_outcome) - Number(b.is_outcome),
  );
}

function compare<Value extends string | bigint>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The entries of a part, one in each log that it concerns. */
export function entriesOf({ row, is_outcome }: DuePart, newSalt: () => string): NewEntry[] {
  return is_outcome ? outcomeEntries(row, newSalt) : intentEntries(row, newSalt);
}

/** The intent's entry in each log that it put the event into. */
function intentEntries(row: UnsealedRow, newSalt: () => string): NewEntry[] {
  return viewsOf(row)
    .filter(({ joins }) => !joins)
    .map((view) => entryOf(row, view, false, newSalt));
}

/** The outcome's entry in each log; before it the intent's in the log that the event comes into with the outcome. */
function outcomeEntries(row: UnsealedRow, newSalt: () => string): NewEntry[] {
  return viewsOf(row).flatMap((view) => [
    ...(view.joins ? [entryOf(row, view, false, newSalt)] : []),
    entryOf(row, view, true, newSalt),
  ]);
}

interface View {
  owner: string;
  event: UserEvent | ReturnType<typeof withoutPerson>;
  /** The event is in this log by its outcome. */
  joins: boolean;
}

function viewsOf(row: UnsealedRow): View[] {
  const event = eventOf(row);
  const views: View[] = [];
  if (row.user_id !== null) views.push({ owner: ownerOf("user", row.user_id), event, joins: false });
  if (row.organization_id !== null) {
    const owner = ownerOf("organization", row.organization_id);
    views.push({ owner, event: withoutPerson(event), joins: row.named_by_outcome === true });
  }
  return views;
}

function entryOf(
  row: UnsealedRow,
  { owner, event }: View,
  is_outcome: boolean,
  newSalt: () => string,
): NewEntry {
  const salt = is_outcome ? row.outcome_salt : row.intent_salt;
  const own_salt = salt === null ? newSalt() : null;
  const text = is_outcome ? outcomeEntry : intentEntry;
  return {
    owner,
    event_id: row.id,
    occurred_at: event.occurred_at,
    is_outcome,
    hash: entryHash(text(event, writtenByIntent(row), salt ?? own_salt ?? "")),
    own_salt,
  };
}
