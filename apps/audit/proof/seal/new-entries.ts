import { inSlices } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import type { AlteredChain } from "./altered-chains.ts";
import {
  type EventPart,
  entriesOf,
  type NewEntry,
  ownersOf,
  partsInOrder,
  type UnsealedRow,
} from "./entries.ts";
import type { PassDeps } from "./pass-deps.ts";
import type { PassRead } from "./read-pass.ts";

const SLICE_MS = 10;

/**
 * Returns the missing entries of the events of a pass, in the chains that the pass may extend. Also returns the chains
 * that have an event that cannot be sealed, so that the pass leaves them out.
 */
export async function newEntries(
  { clock, log }: Pick<PassDeps, "clock" | "log">,
  { rows, chains }: Pick<PassRead, "rows" | "chains">,
): Promise<{ entries: NewEntry[]; altered: AlteredChain[] }> {
  const ids = new Map(chains.map(({ owner, id }) => [owner, id]));
  const found: NewEntry[] = [];
  const altered = new Map<string, AlteredChain>();
  const add = (part: EventPart<UnsealedRow>) => {
    const { row, is_outcome } = part;
    const owners = ownersOf(row).filter((owner) => ids.has(owner));
    if (owners.length === 0) return;
    if (is_outcome && !row.intent_due && row.sealed_in === null) {
      log.error({ event_id: row.id }, "an event that no request wrote is left out of the proof");
      return;
    }
    try {
      found.push(...lackingEntries(part, ids));
    } catch (error) {
      const reason = `the event ${row.id} cannot be sealed: ${reasonOf(error)}`;
      for (const owner of owners) if (!altered.has(owner)) altered.set(owner, { owner, reason });
    }
  };
  function* steps() {
    for (const part of partsInOrder(rows)) yield add(part);
  }
  await inSlices(steps(), { sliceMs: SLICE_MS, clock });
  const entries = found.filter(({ owner }) => !altered.has(owner));
  return { entries, altered: [...altered.values()] };
}

/** Returns the entries of an intent or outcome that the chains with these ids lack. */
function lackingEntries(part: EventPart<UnsealedRow>, ids: ReadonlyMap<string, number>): NewEntry[] {
  const known = new Set(part.row.sealed_in?.split(","));
  return entriesOf(part).filter(({ owner, row }) => {
    const id = ids.get(owner);
    return id !== undefined && !known.has(`${id}${row.is_outcome ? "o" : "i"}`);
  });
}
