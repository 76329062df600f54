import { Batches, type Member, rejectEach, resolveEach, type SharedContext } from "@ostiary/lib/async";
import { StoreUnavailable } from "@ostiary/lib/runtime/stores/database";

export interface GroupLimits {
  groupMax: number;
  /**
   * The maximum number of writes in flight. While no write is in flight, a group of any size is written.
   * Further writes need full groups.
   */
  writesMax: number;
  /** The maximum number of items that wait. The writer refuses further items. */
  queueMax: number;
}

/**
 * Groups single writes. A lone item is written at once. Items that arrive during a write form the next group,
 * which starts early once it is full. Items with the same key never share a write: the later one waits for
 * the earlier one. If a group fails for a reason other than an unavailable store, each item is written by
 * itself and gets its own result.
 */
export class GroupedWriter<Item, Result> {
  readonly #write: (items: Item[]) => Promise<Result[]>;
  readonly #queueMax: number;
  readonly #groups: Batches<Item, Result>;
  /** Writes in flight by key. A Map would retain removed keys until a full garbage collection. */
  readonly #underWay: Record<string, Promise<unknown>> = Object.create(null);

  /** @param write writes a group of items and returns one result per item, in the same order */
  constructor(
    write: (items: Item[]) => Promise<Result[]>,
    { groupMax, writesMax, queueMax }: GroupLimits,
    context?: SharedContext,
  ) {
    this.#write = write;
    this.#queueMax = queueMax;
    this.#groups = new Batches((group) => this.#writeGroup(group), {
      itemsMax: groupMax,
      batchesMax: writesMax,
      atOnce: true,
      waitMs: Number.POSITIVE_INFINITY,
      context,
    });
  }

  /**
   * Writes items, which share a write if possible. A promise rejects with `StoreUnavailable` if the store is
   * unavailable or too many items wait.
   */
  add(items: readonly { key: string; item: Item }[]): Promise<Result>[] {
    const results = items.map(({ key, item }) => this.#inTurn(key, item));
    this.#groups.start();
    return results;
  }

  async #inTurn(key: string, item: Item): Promise<Result> {
    const mustWait = key in this.#underWay;
    while (key in this.#underWay) await this.settled(key);
    const written = this.#enqueue(item);
    if (mustWait) this.#groups.start();
    this.#underWay[key] = written;
    try {
      return await written;
    } finally {
      delete this.#underWay[key];
    }
  }

  /** Resolves when no write of `key` is in flight; never rejects. */
  async settled(key: string): Promise<void> {
    await this.#underWay[key]?.catch(() => {}); // the caller of `add` gets the error
  }

  /** Resolves once all items that were added so far have a result or an error. */
  async drained(): Promise<void> {
    await Promise.allSettled(Object.values(this.#underWay));
  }

  #enqueue(item: Item): Promise<Result> {
    if (this.#groups.waiting < this.#queueMax) return this.#groups.gather(item);
    const waiting = new Error(`${this.#queueMax} writes wait already.`);
    return Promise.reject(new StoreUnavailable("database", waiting));
  }

  /** Writes a group, and settles the promise of every member. Never rejects. */
  async #writeGroup(group: readonly Member<Item, Result>[]): Promise<void> {
    try {
      resolveEach(group, await this.#groups.together(group, this.#write));
    } catch (error) {
      if (group.length === 1 || error instanceof StoreUnavailable) rejectEach(group, error);
      else for (const member of group) await this.#writeGroup([member]);
    }
  }
}
