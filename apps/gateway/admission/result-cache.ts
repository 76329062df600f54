import type { Clock } from "@ostiary/lib/async";
import { LRUCache } from "lru-cache";

/** A result, and until when it may be used again; a time that is past keeps nothing. */
export interface Kept<T> {
  readonly value: T;
  /** By the clock that never goes back, so that a wall clock that is set back keeps nothing longer. */
  readonly until_elapsed_ms: number;
  /** When what it is about ends, in epoch milliseconds; `Infinity` when that has no end. */
  readonly ends_at_ms: number;
}

/**
 * Results under a name: bounded, least recently used out first, each with an end of its own. Those who miss the
 * same name at the same time share one load (Gateway specification, Gateway admission). A load that rejects
 * keeps nothing. Names are hashes or ids, never credentials.
 */
export class ResultCache<T> {
  /** How often a result was at hand, and how often it had to be waited for. */
  hits = 0;
  misses = 0;
  readonly #kept: LRUCache<string, Kept<T>>;
  readonly #loading = new Map<string, Promise<T>>();
  readonly #clock: Pick<Clock, "now" | "elapsed_ms">;

  constructor(entries: number, clock: Pick<Clock, "now" | "elapsed_ms">) {
    this.#kept = new LRUCache({ max: entries });
    this.#clock = clock;
  }

  /** Results that are kept, ended ones included that nobody has asked for since. */
  get entries(): number {
    return this.#kept.size;
  }

  /** What is kept under `name`; undefined when it is missing or has ended. */
  get(name: string): T | undefined {
    const found = this.#kept.get(name);
    if (found === undefined || !this.#holds(found)) return undefined;
    this.hits += 1;
    return found.value;
  }

  /** The result of the load of `name` that is under way, else of a new one. */
  load(name: string, work: () => Promise<Kept<T>>): Promise<T> {
    this.misses += 1;
    const underway = this.#loading.get(name);
    if (underway !== undefined) return underway;
    const loading = this.#keep(name, work).finally(() => this.#loading.delete(name));
    this.#loading.set(name, loading);
    return loading;
  }

  async #keep(name: string, work: () => Promise<Kept<T>>): Promise<T> {
    const kept = await work();
    if (this.#holds(kept)) this.#kept.set(name, kept);
    return kept.value;
  }

  #holds({ until_elapsed_ms, ends_at_ms }: Kept<T>): boolean {
    if (until_elapsed_ms <= this.#clock.elapsed_ms()) return false;
    return ends_at_ms === Number.POSITIVE_INFINITY || ends_at_ms > this.#clock.now();
  }
}
