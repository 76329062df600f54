import type { UserEvent } from "@ostiary/lib/contracts/audit";
import {
  entryHash,
  type Hash,
  intentEntry,
  outcomeEntry,
  ownerOf,
  type WrittenByIntent,
} from "@ostiary/lib/domain/proof";
import { compare } from "../compare.ts";
import { type EventRow, eventOf, withoutPerson } from "../events/event.ts";

/** An event with all fields that its entries need. */
export interface StoredRow extends EventRow {
  /** The transactions that wrote the intent and the outcome. `outcome_xid` is null for an event without an outcome. */
  intent_xid: string | null;
  outcome_xid: string | null;
  /** The salt of the intent, in hexadecimal. */
  intent_salt: string | null;
  /** The salt of the outcome, in hexadecimal. */
  outcome_salt: string | null;
  named_by_outcome: boolean | null;
  intent_member_id: string | null;
}

/** An event whose intent or outcome is not sealed yet. */
export interface UnsealedRow extends StoredRow {
  /** Whether the pass that reads this row must seal the intent. */
  intent_due: boolean;
  /** Whether the pass that reads this row must seal the outcome. */
  outcome_due: boolean;
  /**
   * Whether `audit.request_ids` contains this event under its request id. The row is missing if something other
   * than the service wrote the event.
   */
  claimed: boolean;
}

/** An entry that has no position yet. */
export interface NewEntry {
  owner: string;
  event_id: string;
  occurred_at: string;
  is_outcome: boolean;
  hash: Hash;
  /** The entry's own salt in hexadecimal; null if the entry uses the event's salt. */
  own_salt: string | null;
}

/** Returns the values that an intent wrote and its outcome replaced, or null if the outcome replaced none. */
function writtenByIntent(row: Pick<StoredRow, "named_by_outcome" | "intent_member_id">): WrittenByIntent {
  return row.named_by_outcome ? { organization_id: null, member_id: row.intent_member_id } : null;
}

/** The intent or the outcome of an event. */
export interface EventPart {
  row: StoredRow;
  is_outcome: boolean;
}

/** Returns the unsealed intents and outcomes of rows, in the order of the transactions that wrote them. */
export function partsInOrder(rows: readonly UnsealedRow[]): EventPart[] {
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
 */
export function entriesOf({ row, is_outcome }: EventPart, newSalt: () => string): NewEntry[] {
  return viewsOf(row).flatMap((view) => [
    ...(view.joins === is_outcome ? [entryOf(row, view, false, newSalt)] : []),
    ...(is_outcome ? [entryOf(row, view, true, newSalt)] : []),
  ]);
}

interface View {
  owner: string;
  event: UserEvent | ReturnType<typeof withoutPerson>;
  /** Whether the outcome added the event to this log. */
  joins: boolean;
}

function viewsOf(row: StoredRow): View[] {
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
  row: StoredRow,
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
