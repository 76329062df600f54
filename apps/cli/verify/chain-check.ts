import { type Hash, nextInChain, sameHash, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Faults } from "./faults.ts";

/** An entry that a file shows: where it says to be, what it is, and what it says that the chain is there. */
export interface ShownEntry {
  position: number;
  event_id: string;
  /** `intent` or `outcome`. */
  half: string;
  hash: Hash;
  chain: Hash;
}

/** Entries that follow one another without a gap. */
interface Run {
  low: Edge;
  high: Edge;
}

/** `hash` is null where nothing is known of the entry itself. */
interface Edge {
  position: number;
  event_id: string | null;
  half: string;
  hash: Hash | null;
  chain: Hash;
}

/**
 * Checks a chain whose entries come in any order, nearly sorted as a rule: what is kept is a few values for each gap
 * that is open, not the entries. Each is checked when the one before it is known.
 */
export class ChainCheck {
  readonly #faults: Faults;
  readonly #byLow = new Map<number, Run>();
  readonly #byHigh = new Map<number, Run>();
  /** The chain that is expected at some places, and by what. */
  readonly #expected = new Map<number, { chain: Hash; by: string }>();
  #entries = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
    const start = { position: 0, event_id: null, half: "", hash: null, chain: ZERO_HASH };
    this.#keep({ low: start, high: start });
  }

  /** Entries so far. */
  get entries(): number {
    return this.#entries;
  }

  /** An entry must have this value of the chain when it comes. */
  expect(position: number, chain: Hash, by: string): void {
    this.#expected.set(position, { chain, by });
  }

  add({ position, event_id, half, hash, chain }: ShownEntry): void {
    this.#entries += 1;
    const edge = { position, event_id, half, hash, chain };
    this.#checkExpected(edge);
    this.#join({ low: edge, high: edge });
  }

  /** Entries that are not shown, and the chain at the last of them. */
  bridge(from: number, to: number, chain: Hash): void {
    const low = { position: from, event_id: null, half: "", hash: null, chain: ZERO_HASH };
    const high = { position: to, event_id: null, half: "", hash: null, chain };
    this.#checkExpected(high);
    this.#join({ low, high });
  }

  /** Nothing more comes: names what is missing, what is there twice, and a chain that ends differently. */
  end(position: number, chain: Hash): void {
    const runs = [...this.#byLow.values()].toSorted((a, b) => a.low.position - b.low.position);
    let reached: Edge | undefined;
    for (const { low, high } of runs) {
      if (reached !== undefined) this.#nameGap(reached, low);
      if (reached === undefined || high.position > reached.position) reached = high;
    }
    const last = reached?.position ?? 0;
    if (last < position) this.#nameMissing(last + 1, position, `after ${nameOf(reached)}`, reached?.event_id);
    else if (last > position) {
      this.#faults.add("added", `The chain goes on to place ${last}, but its head is at ${position}.`, {
        event_id: reached?.event_id,
        position: position + 1,
      });
    } else if (reached !== undefined && !sameHash(reached.chain, chain)) {
      this.#faults.add(
        "changed",
        `The chain ends with ${nameOf(reached)} in another value than its head has.`,
        {
          event_id: reached.event_id,
          position: last,
        },
      );
    }
    for (const [place, { by }] of this.#expected) {
      this.#faults.add("rebuilt", `${by} has ${place} entries, which this file does not reach.`, {
        position: place,
      });
    }
  }

  #checkExpected({ position, event_id, chain }: Edge): void {
    const expected = this.#expected.get(position);
    if (expected === undefined) return;
    this.#expected.delete(position);
    if (sameHash(expected.chain, chain)) return;
    const message = `${expected.by} has another chain at place ${position}: what comes before was rewritten since.`;
    this.#faults.add("rebuilt", message, { event_id, position });
  }

  #join(run: Run): void {
    const before = this.#byHigh.get(run.low.position - 1);
    const after = this.#byLow.get(run.high.position + 1);
    let joined = run;
    if (before !== undefined) {
      this.#checkLink(before.high, run.low);
      this.#drop(before);
      joined = { low: before.low, high: joined.high };
    }
    if (after !== undefined) {
      this.#checkLink(run.high, after.low);
      this.#drop(after);
      joined = { low: joined.low, high: after.high };
    }
    this.#keep(joined);
  }

  #checkLink(before: Edge, { position, event_id, half, hash, chain }: Edge): void {
    if (hash === null || sameHash(nextInChain(before.chain, hash), chain)) return;
    const message = `The ${half} of event ${event_id} is not what was sealed at place ${position}: it was changed, or moved there.`;
    this.#faults.add("changed", message, { event_id, position });
  }

  #keep(run: Run): void {
    const twin = this.#byLow.get(run.low.position);
    if (twin !== undefined) this.#nameGap(twin.high, run.low);
    this.#byLow.set(run.low.position, run);
    this.#byHigh.set(run.high.position, run);
  }

  #drop(run: Run): void {
    this.#byLow.delete(run.low.position);
    this.#byHigh.delete(run.high.position);
  }

  #nameGap(before: Edge, after: Edge): void {
    if (after.position <= before.position) {
      this.#faults.add(
        "added",
        `${nameOf(after)} has place ${after.position}, which another entry has.`,
        after,
      );
    } else if (after.position > before.position + 1) {
      this.#nameMissing(before.position + 1, after.position - 1, `before ${nameOf(after)}`, after.event_id);
    }
  }

  #nameMissing(from: number, to: number, where: string, event_id: string | null | undefined): void {
    const places =
      from === to ? `The entry at place ${from} is` : `The entries at places ${from} to ${to} are`;
    this.#faults.add("removed", `${places} missing, ${where}: an event was removed.`, {
      event_id,
      position: from,
    });
  }
}

function nameOf(edge: Edge | undefined): string {
  if (edge === undefined || edge.position === 0) return "the beginning";
  return edge.event_id === null ? `place ${edge.position}` : `the ${edge.half} of event ${edge.event_id}`;
}
