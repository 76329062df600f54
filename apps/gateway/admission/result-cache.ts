import { LRUCache } from "lru-cache";

/** A result, and until when it may be used again, in epoch milliseconds; a time that is past keeps nothing. */
export interface Kept<T> {
  readonly value: T;
  readonly until_ms: number;
}

/**
 * Results under a name: bounded, least recently used out first, each with an end of its own. Those who miss the
 * same name at the same time share one load (Gateway specification, Gateway admission). A load that rejects
 * keeps nothing. Names are hashes or ids, never credentials.
 */
export class ResultCache<T> {
  readonly #kept: LRUCache<string, Kept<T>>;
  readonly #loading = new Map<string, Promise<T>>();
  readonly #now: () => number;

  constructor(entries: number, now: () => number) {
    this.#kept = new LRUCache({ max: entries });
    this.#now = now;
  }

  /** What is kept under `name`; undefined when it is missing or has ended. */
  get(name: string): T | undefined {
    const found = this.#kept.get(name);
    return found !== undefined && found.until_ms > this.#now() ? found.value : undefined;
  }

  /** The result of the load of `name` that is under way, else of a new one. */
  load(name: string, work: () => Promise<Kept<T>>): Promise<T> {
    const underway = this.#loading.get(name);
    if (underway !== undefined) return underway;
    const loading = this.#keep(name, work).finally(() => this.#loading.delete(name));
    this.#loading.set(name, loading);
    return loading;
  }

  async #keep(name: string, work: () => Promise<Kept<T>>): Promise<T> {
    const kept = await work();
    if (kept.until_ms > this.#now()) this.#kept.set(name, kept);
    return kept.value;
  }
}
