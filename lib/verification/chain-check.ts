import { type Hash, hexOf, nextInChain, sameHash, ZERO_HASH } from "../domain/proof/index.ts";
import type { FindingPlace, Findings } from "./findings.ts";

/** An entry in an export: its position, its own hash, and the chain value that the export gives for the entry. */
interface ShownEntry {
  position: number;
  /** Null for the last entry of a missing run, whose chain value is taken as it is. */
  hash: Hash | null;
  chain: Hash;
  event_id?: string;
}

/** A sequence of entries with consecutive positions. */
interface Run {
  low: ShownEntry;
  high: ShownEntry;
}

/**
 * Checks a chain whose entries arrive in any order, usually nearly sorted. An entry is checked as soon as its
 * predecessor is known. Chain values are kept for all entries, but other data only at the edges of gaps.
 */
export class ChainCheck {
  readonly #findings: Findings;
  readonly #byLow = new Map<number, Run>();
  readonly #byHigh = new Map<number, Run>();
  readonly #values = new ChainValues();
  entries = 0;

  constructor(findings: Findings) {
    this.#findings = findings;
    const start = { position: 0, hash: null, chain: ZERO_HASH };
    this.#keep({ low: start, high: start });
  }

  /** Returns the chain value at a position, or null if the export does not give it. */
  valueAt(position: number): Hash | null {
    return position === 0 ? ZERO_HASH : this.#values.at(position);
  }

  add(entry: ShownEntry): void {
    this.entries += 1;
    this.#values.set(entry.position, entry.chain);
    this.#join({ low: entry, high: entry });
  }

  /** Adds the chain value at a position of a run of missing entries, so that an earlier head there is compared. */
  addValue(position: number, chain: Hash): void {
    this.#values.set(position, chain);
  }

  /** Adds a run of missing entries. `chain` is the chain value at `to`. */
  addMissing(from: number, to: number, chain: Hash): void {
    this.#values.set(to, chain);
    this.#join({ low: { position: from, hash: null, chain }, high: { position: to, hash: null, chain } });
  }

  /** Ends the check: finds missing entries, duplicates and a chain that does not end at the head. */
  end(position: number, chain: Hash): void {
    let last: ShownEntry = { position: 0, hash: null, chain: ZERO_HASH };
    for (const { low, high } of [...this.#byLow.values()].toSorted(byLow)) {
      if (low.position > last.position + 1) this.#addMissing(last.position + 1, low.position - 1);
      else if (low.position > 0 && low.position <= last.position) this.#addTaken(low, last);
      if (high.position > last.position) last = high;
    }
    if (last.position < position) this.#addMissing(last.position + 1, position);
    else if (last.position > position) {
      this.#findings.add("head_differs", placeOf(last), `position ${position}`, `position ${last.position}`);
    } else if (!sameHash(last.chain, chain)) {
      this.#findings.add("head_differs", placeOf(last), hexOf(chain), hexOf(last.chain));
    }
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

  #checkLink(before: ShownEntry, entry: ShownEntry): void {
    if (entry.hash === null) return;
    const next = nextInChain(before.chain, entry.hash);
    if (sameHash(next, entry.chain)) return;
    this.#findings.add("entry_changed", placeOf(entry), hexOf(entry.chain), hexOf(next));
  }

  #keep(run: Run): void {
    const duplicate = this.#byLow.get(run.low.position);
    if (duplicate !== undefined) this.#addTaken(run.low, duplicate.low);
    // Keeps the longer run: the entries of a forgotten run would count as missing.
    if (duplicate !== undefined && duplicate.high.position > run.high.position) return;
    this.#byLow.set(run.low.position, run);
    this.#byHigh.set(run.high.position, run);
  }

  #drop(run: Run): void {
    this.#byLow.delete(run.low.position);
    this.#byHigh.delete(run.high.position);
  }

  #addTaken(entry: ShownEntry, other: ShownEntry): void {
    for (const each of [entry, other]) this.#findings.add("position_taken", placeOf(each));
  }

  #addMissing(from: number, to: number): void {
    this.#findings.add("entries_missing", { position: from, ...(to > from && { to }) });
  }
}

function byLow(a: Run, b: Run): number {
  return a.low.position - b.low.position;
}

function placeOf({ position, event_id }: ShownEntry): FindingPlace {
  return event_id === undefined ? { position } : { position, event_id };
}

const PAGE_VALUES = 32;
const VALUE_BYTES = ZERO_HASH.length;

/** The chain values by position, stored in pages to save memory: a log may have millions of entries. */
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
