import {
  type ChainRange,
  type Hash,
  hashFromHex,
  nextInChain,
  sameHash,
  ZERO_HASH,
} from "../domain/proof/index.ts";
import type { NamedEntry, ProblemValues } from "./finding-codes.ts";
import type { Problems } from "./problems.ts";

/** An entry in an export: its position, its own hash, and the chain hash that the export gives for the entry. */
interface ShownEntry {
  position: number;
  /** The id of the entry's event, or null for an entry without an event. */
  event_id: string | null;
  named: NamedEntry;
  hash: Hash;
  chain: Hash;
}

const START: NamedEntry = { entry: "start" };

/** A sequence of entries with consecutive positions. */
interface Run {
  low: Edge;
  high: Edge;
}

/** The first or last entry of a run. `hash` is null at the start of the chain and for dropped entries. */
interface Edge {
  position: number;
  event_id: string | null;
  named: NamedEntry;
  hash: Hash | null;
  chain: Hash;
}

/**
 * Checks a chain whose entries arrive in any order, usually nearly sorted. An entry is checked as soon as its
 * predecessor is known. Chain hashes are kept for all entries, but other data only at the edges of gaps.
 */
export class ChainCheck {
  readonly #problems: Problems;
  readonly #byLow = new Map<number, Run>();
  readonly #byHigh = new Map<number, Run>();
  readonly #values = new ChainValues();
  #entries = 0;

  constructor(problems: Problems) {
    this.#problems = problems;
    const start = { position: 0, event_id: null, named: START, hash: null, chain: ZERO_HASH };
    this.#keep({ low: start, high: start });
  }

  /** Returns the chain hash at a position, or null if the export does not give it. */
  valueAt(position: number): Hash | null {
    return position === 0 ? ZERO_HASH : this.#values.at(position);
  }

  /** The number of entries that were added so far. */
  get entries(): number {
    return this.#entries;
  }

  add(entry: ShownEntry): void {
    this.#entries += 1;
    this.#values.set(entry.position, entry.chain);
    this.#join({ low: entry, high: entry });
  }

  /**
   * Fills gaps with ranges of dropped entries. Call after all entries were added. Ignores a range if the
   * export shows one of its entries. Returns the ranges that were used.
   */
  bridge(ranges: readonly ChainRange[]): ChainRange[] {
    const runs = this.#runs();
    const absent = ranges.filter((range) => !isShown(runs, range));
    for (const { from, to, chain } of absent) {
      const low = bridgeEdge(from, ZERO_HASH);
      const high = bridgeEdge(to, hashFromHex(chain));
      this.#values.set(to, high.chain);
      this.#join({ low, high });
    }
    return absent;
  }

  /** Ends the check: reports missing entries, duplicates and a chain that does not end at the head. */
  end(position: number, chain: Hash): void {
    const runs = this.#runs();
    let reached: Edge | undefined;
    for (const { low, high } of runs) {
      if (reached !== undefined) this.#nameGap(reached, low);
      if (reached === undefined || high.position > reached.position) reached = high;
    }
    const last = reached?.position ?? 0;
    const event_id = reached?.event_id;
    const entry = reached?.named ?? START;
    if (last < position) {
      this.#nameMissing({ from: last + 1, to: position, side: "after", entry }, event_id);
    } else if (last > position) {
      this.#problems.add({ code: "beyond_head", last, head: position }, { event_id, position: position + 1 });
    } else if (reached !== undefined && !sameHash(reached.chain, chain)) {
      this.#problems.add({ code: "other_end", entry }, { event_id, position: last });
    }
  }

  /** Returns the runs in the order of their positions. */
  #runs(): Run[] {
    return [...this.#byLow.values()].toSorted((a, b) => a.low.position - b.low.position);
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

  #checkLink(before: Edge, { position, event_id, named, hash, chain }: Edge): void {
    if (hash === null || sameHash(nextInChain(before.chain, hash), chain)) return;
    this.#problems.add({ code: "entry_changed", entry: named, position }, { event_id, position });
  }

  #keep(run: Run): void {
    const twin = this.#byLow.get(run.low.position);
    if (twin !== undefined) this.#nameGap(twin.high, run.low);
    // Keeps the longer run: the entries of a forgotten run would count as missing.
    if (twin !== undefined && twin.high.position > run.high.position) return;
    this.#byLow.set(run.low.position, run);
    this.#byHigh.set(run.high.position, run);
  }

  #drop(run: Run): void {
    this.#byLow.delete(run.low.position);
    this.#byHigh.delete(run.high.position);
  }

  #nameGap(before: Edge, after: Edge): void {
    const { position, event_id, named: entry } = after;
    if (position <= before.position) {
      this.#problems.add({ code: "place_taken", entry, position }, { event_id, position });
    } else if (position > before.position + 1) {
      const [from, to] = [before.position + 1, position - 1];
      this.#nameMissing({ from, to, side: "before", entry }, event_id);
    }
  }

  #nameMissing(missing: ProblemValues["entries_missing"], event_id: string | null | undefined): void {
    this.#problems.add({ code: "entries_missing", ...missing }, { event_id, position: missing.from });
  }
}

const PAGE_VALUES = 32;
const VALUE_BYTES = ZERO_HASH.length;

/** The chain hashes by position, stored in pages to save memory: a log may have millions of entries. */
class ChainValues {
  readonly #pages = new Map<number, { values: Uint8Array; known: number }>();

  at(position: number): Hash | null {
    const page = this.#pages.get(Math.floor(position / PAGE_VALUES));
    const index = position % PAGE_VALUES;
    if (page === undefined || ((page.known >>> index) & 1) === 0) return null;
    return page.values.subarray(index * VALUE_BYTES, (index + 1) * VALUE_BYTES);
  }

  set(position: number, value: Hash): void {
    const number = Math.floor(position / PAGE_VALUES);
    const page = this.#pages.get(number) ?? { values: new Uint8Array(PAGE_VALUES * VALUE_BYTES), known: 0 };
    const index = position % PAGE_VALUES;
    page.values.set(value, index * VALUE_BYTES);
    page.known |= 1 << index;
    this.#pages.set(number, page);
  }
}

function bridgeEdge(position: number, chain: Hash): Edge {
  return { position, event_id: null, named: { entry: "place", position }, hash: null, chain };
}

/** Returns whether one of the sorted runs contains an entry of the range. */
function isShown(runs: readonly Run[], { from, to }: ChainRange): boolean {
  let [start, end] = [0, runs.length];
  while (start < end) {
    const middle = (start + end) >> 1;
    if ((runs[middle]?.high.position ?? 0) < from) start = middle + 1;
    else end = middle;
  }
  const run = runs[start];
  return run !== undefined && run.low.position <= to;
}
