import { type Clock, inSlices } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { AlteredChain } from "./altered.ts";
import {
  type EventPart,
  entriesOf,
  type NewEntry,
  ownersOf,
  partsInOrder,
  type UnsealedRow,
} from "./entries.ts";
import type { PassRead } from "./read-pass.ts";

const SLICE_MS = 10;

/** The entries of a pass in their order, and the chains that are left out from now on. */
interface Found {
  entries: NewEntry[];
  altered: AlteredChain[];
}

/** Returns the entries that the rows of a pass lack. Leaves out the chains of an event that cannot be sealed. */
export async function newEntries(
  { state, restored, chains, rows, altered }: PassRead,
  { clock, log }: { clock: Clock; log: Pick<Logger, "error"> },
): Promise<Found> {
  const found = new EntryFinder(new Map(chains.map(({ owner, id }) => [owner, id])), altered, log);
  const leftOut = new Set(state.altered);
  const options = { sliceMs: SLICE_MS, clock };
  await inSlices(
    found.addAll(rows, (owner) => !leftOut.has(owner)),
    options,
  );
  for (const [restoredOwner, own] of restored) {
    await inSlices(
      found.addAll(own, (owner) => owner === restoredOwner),
      options,
    );
  }
  return found.result;
}

class EntryFinder {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #log: Pick<Logger, "error">;
  readonly #entries: NewEntry[] = [];
  readonly #altered: Map<string, AlteredChain>;

  constructor(
    ids: ReadonlyMap<string, number>,
    altered: readonly AlteredChain[],
    log: Pick<Logger, "error">,
  ) {
    this.#ids = ids;
    this.#log = log;
    this.#altered = new Map(altered.map((chain) => [chain.owner, chain]));
  }

  get result(): Found {
    const entries = this.#entries.filter(({ owner }) => !this.#altered.has(owner));
    return { entries, altered: [...this.#altered.values()] };
  }

  /** Adds the entries of rows in the chains that `isOpen`. Yields after each intent and outcome. */
  *addAll(rows: readonly UnsealedRow[], isOpen: (owner: string) => boolean) {
    for (const part of partsInOrder(rows)) {
      this.#add(part, isOpen);
      yield;
    }
  }

  #add(part: EventPart<UnsealedRow>, isOpen: (owner: string) => boolean): void {
    const { row, is_outcome } = part;
    if (is_outcome && !row.intent_due && row.placed === null) {
      this.#log.error({ event_id: row.id }, "an event that no request wrote is left out of the proof");
      return;
    }
    const placed = new Set(row.placed?.split(","));
    try {
      for (const entry of entriesOf(part)) {
        const place = `${this.#ids.get(entry.owner)}${entry.is_outcome ? "o" : "i"}`;
        if (isOpen(entry.owner) && !placed.has(place)) this.#entries.push(entry);
      }
    } catch (error) {
      const reason = `the event ${row.id} cannot be sealed: ${reasonOf(error)}`;
      for (const owner of ownersOf(row).filter(isOpen)) {
        if (!this.#altered.has(owner)) this.#altered.set(owner, { owner, reason });
      }
    }
  }
}
