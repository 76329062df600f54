import type { Clock } from "@ostiary/lib/async";
import { LRUCache } from "lru-cache";

/** A result and its two expiry times. A result that has already expired is not cached. */
export interface Kept<T> {
  readonly value: T;
  /** The expiry on the monotonic clock. Setting the wall clock back does not extend it. */
  readonly untilElapsedMs: number;
  /** Expiry of the credential, in epoch milliseconds; `Infinity` if it never expires. */
  readonly endsAtMs: number;
}

/**
 * A bounded cache of results by name, which evicts the least recently used result first. Each result has its
 * own expiry. Concurrent misses of one name share one load. If a load rejects, nothing is cached (GW-60,
 * GW-61). Names are hashes or ids, never credentials.
 */
export class ResultCache<T> {
  /** Number of lookups that found a result. */
  hits = 0;
  misses = 0;
  readonly #kept: LRUCache<string, Kept<T>>;
  readonly #loading = new Map<string, Promise<T>>();
  /** The number of calls of {@link drop}. */
  #drops = 0;
  readonly #clock: Pick<Clock, "now" | "elapsedMs">;

  constructor(entries: number, clock: Pick<Clock, "now" | "elapsedMs">) {
    this.#kept = new LRUCache({ max: entries });
    this.#clock = clock;
  }

  /** Number of stored results, expired ones included. */
  get entries(): number {
    return this.#kept.size;
  }

  /** Returns the result under `name`, or undefined if it is missing or has expired. */
  get(name: string): T | undefined {
    const found = this.#kept.get(name);
    if (found === undefined || !this.#holds(found)) return undefined;
    this.hits += 1;
    return found.value;
  }

  /** Returns the result of `work`, or of the load of `name` that is already in progress. */
  load(name: string, work: () => Promise<Kept<T>>): Promise<T> {
    this.misses += 1;
    const underway = this.#loading.get(name);
    if (underway !== undefined) return underway;
    const loading = this.#keep(name, work).finally(() => {
      if (this.#loading.get(name) === loading) this.#loading.delete(name);
    });
    this.#loading.set(name, loading);
    return loading;
  }

  /**
   * Drops the results for which `isVoid` returns true, by default all. No later lookup gets the result of a load that
   * is in progress, which may be void too.
   */
  drop(isVoid: (value: T) => boolean = () => true): void {
    this.#drops += 1;
    this.#loading.clear();
    const dropped: string[] = [];
    for (const [name, { value }] of this.#kept.entries()) if (isVoid(value)) dropped.push(name);
    for (const name of dropped) this.#kept.delete(name);
  }

  async #keep(name: string, work: () => Promise<Kept<T>>): Promise<T> {
    const drops = this.#drops;
    const kept = await work();
    if (drops === this.#drops && this.#holds(kept)) this.#kept.set(name, kept);
    return kept.value;
  }

  #holds({ untilElapsedMs, endsAtMs }: Kept<T>): boolean {
    if (untilElapsedMs <= this.#clock.elapsedMs()) return false;
    return endsAtMs === Number.POSITIVE_INFINITY || endsAtMs > this.#clock.now();
  }
}
