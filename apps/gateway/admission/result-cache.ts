import type { Clock } from "@ostiary/lib/async";
import { LRUCache } from "lru-cache";

export interface Kept<T> {
  readonly value: T;
  /** The expiry on the monotonic clock. Setting the wall clock back does not extend it. */
  readonly untilElapsedMs: number;
  /** Expiry of the credential, in epoch milliseconds; `Infinity` if it never expires. */
  readonly endsAtMs: number;
}

/** A kept result that was valid after `count` responses with changes. */
interface Entry<T> extends Kept<T> {
  count: number;
}

interface Changes<T> {
  readonly count: number;
  isVoid(value: T, count: number): boolean;
}

const NONE: Changes<unknown> = { count: 0, isVoid: () => false };

/**
 * A bounded cache of results by name, which evicts the least recently used result first. Each result has its
 * own expiry. Concurrent misses of one name share one load. If a load rejects, nothing is cached (GW-60,
 * GW-61). Names are hashes or ids, never credentials.
 */
export class ResultCache<T> {
  hits = 0;
  misses = 0;
  readonly #kept: LRUCache<string, Entry<T>>;
  readonly #loading = new Map<string, Promise<T>>();
  /** The count of changes at which the loads in {@link #loading} began. */
  #loadingCount = 0;
  readonly #changes: Changes<T>;
  readonly #clock: Pick<Clock, "now" | "elapsedMs">;

  constructor(entries: number, clock: Pick<Clock, "now" | "elapsedMs">, changes: Changes<T> = NONE) {
    this.#changes = changes;
    this.#kept = new LRUCache({ max: entries });
    this.#clock = clock;
  }

  /** Number of stored results, expired and void ones included. */
  get entries(): number {
    return this.#kept.size;
  }

  /** Returns the result under `name`, or undefined if it is missing, void or has expired. */
  get(name: string): T | undefined {
    const found = this.#kept.get(name);
    if (found === undefined || !this.#holds(found) || this.#isVoid(found)) return undefined;
    this.hits += 1;
    return found.value;
  }

  /**
   * Returns the result of `work`, or of the load of `name` that is already in progress, unless a change has arrived
   * since it began.
   */
  load(name: string, work: () => Promise<Kept<T>>): Promise<T> {
    this.misses += 1;
    if (this.#loadingCount !== this.#changes.count) this.#loading.clear();
    this.#loadingCount = this.#changes.count;
    const underway = this.#loading.get(name);
    if (underway !== undefined) return underway;
    const loading = this.#keep(name, work).finally(() => {
      if (this.#loading.get(name) === loading) this.#loading.delete(name);
    });
    this.#loading.set(name, loading);
    return loading;
  }

  async #keep(name: string, work: () => Promise<Kept<T>>): Promise<T> {
    const { count } = this.#changes;
    const kept = await work();
    if (count === this.#changes.count && this.#holds(kept)) this.#kept.set(name, { ...kept, count });
    return kept.value;
  }

  #isVoid(entry: Entry<T>): boolean {
    const { count } = this.#changes;
    if (entry.count === count) return false;
    if (this.#changes.isVoid(entry.value, entry.count)) return true;
    entry.count = count;
    return false;
  }

  #holds({ untilElapsedMs, endsAtMs }: Kept<T>): boolean {
    if (untilElapsedMs <= this.#clock.elapsedMs()) return false;
    return endsAtMs === Number.POSITIVE_INFINITY || endsAtMs > this.#clock.now();
  }
}
