import type { Declaration, HexHash, Restart, Retention } from "@ostiary/lib/domain/proof";
import { type EventRow, eventOf, withoutOutcome, withoutPerson } from "../events/event.ts";

/** A position of a chain, and the running hash there. */
export interface ChainPosition {
  position: number;
  chain: HexHash;
}

/** An entry of a chain as a stream reads it. */
export interface EntryRow extends ChainPosition {
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
type StreamEntry = ChainPosition &
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

function declaredOf(declaration: Declaration) {
  const { kind, declared_at } = declaration;
  return kind === "retention"
    ? { kind, retention: { month: declaration.month, declared_at } }
    : { kind, restart: { from: declaration.from, declared_at } };
}
