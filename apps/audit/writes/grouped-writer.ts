import { StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import type { HeldTraces, SharedWorkTracing } from "@ostiary/lib/runtime/telemetry";

export interface GroupLimits {
  /** Items in one write. */
  group_max: number;
  /** Writes under way at once. All but the first take whole groups only. */
  writes_max: number;
  /** Items that may wait; more are refused. */
  queue_max: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
  /** The requests that it is written for, where they are traced. */
  readonly held: HeldTraces;
}

/**
 * Turns single writes into few: an item that comes alone is written at once, those that come while a write is
 * under way gather and go together in the next, or beside it once they fill a group. Items with the same key never share a write: the later one
 * waits for the earlier one's end. When a group fails for another reason than the store's absence, its items
 * are written one by one, so that each gets its own answer.
 */
export class GroupedWriter<Item, Result> {
  readonly #write: (items: Item[]) => Promise<Result[]>;
  readonly #limits: GroupLimits;
  readonly #queue: Waiting<Item, Result>[] = [];
  /** By key. Not a map: one that keys enter and leave all the time keeps them until a full collection. */
  readonly #underWay: Record<string, Promise<unknown>> = Object.create(null);
  readonly #tracing: SharedWorkTracing | undefined;
  #writes = 0;

  /** `write` answers for each item, in their order. */
  constructor(write: (items: Item[]) => Promise<Result[]>, limits: GroupLimits, tracing?: SharedWorkTracing) {
    this.#write = write;
    this.#limits = limits;
    this.#tracing = tracing;
  }

  /** Writes `item`. Rejects with `StoreUnavailable` when the store is away or too much waits already. */
  add(key: string, item: Item): Promise<Result> {
    const answer = this.#inTurn(key, item);
    this.#pump();
    return answer;
  }

  /** {@link add} for each of several items, which share a write as far as they may. */
  addAll(items: readonly { key: string; item: Item }[]): Promise<Result>[] {
    const answers = items.map(({ key, item }) => this.#inTurn(key, item));
    this.#pump();
    return answers;
  }

  async #inTurn(key: string, item: Item): Promise<Result> {
    const mustWait = key in this.#underWay;
    while (key in this.#underWay) await this.settled(key);
    const written = this.#enqueue(item);
    if (mustWait) this.#pump();
    this.#underWay[key] = written;
    try {
      return await written;
    } finally {
      delete this.#underWay[key];
    }
  }

  /** Resolves when no write of `key` is under way; never rejects. */
  async settled(key: string): Promise<void> {
    await this.#underWay[key]?.catch(() => {}); // whoever added it has its error
  }

  /** Resolves when everything added so far has its answer. */
  async drained(): Promise<void> {
    await Promise.allSettled(Object.values(this.#underWay));
  }

  #enqueue(item: Item): Promise<Result> {
    if (this.#queue.length >= this.#limits.queue_max) {
      const waiting = new Error(`${this.#limits.queue_max} writes wait already.`);
      return Promise.reject(new StoreUnavailable("database", waiting));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#queue.push({ item, resolve, reject, held: this.#tracing?.held() });
    return promise;
  }

  #pump(): void {
    while (this.#mayWrite()) {
      this.#writes += 1;
      void this.#writeGroup(this.#queue.splice(0, this.#limits.group_max)).then(() => {
        this.#writes -= 1;
        this.#pump();
      });
    }
  }

  #mayWrite(): boolean {
    const { group_max, writes_max } = this.#limits;
    const waiting = this.#queue.length;
    return this.#writes === 0 ? waiting > 0 : this.#writes < writes_max && waiting >= group_max;
  }

  #traced(group: Waiting<Item, Result>[]): Promise<Result[]> {
    const write = () => this.#write(group.map(({ item }) => item));
    if (this.#tracing === undefined) return write();
    return this.#tracing.together(
      group.map(({ held }) => held),
      write,
    );
  }

  /** Answers every member; never rejects. */
  async #writeGroup(group: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#traced(group);
      for (const [index, { resolve, reject }] of group.entries()) {
        const result = results[index];
        if (result === undefined) reject(new Error("The write gave no answer for an item."));
        else resolve(result);
      }
    } catch (error) {
      if (group.length === 1 || error instanceof StoreUnavailable) {
        for (const { reject } of group) reject(error);
      } else {
        for (const member of group) await this.#writeGroup([member]);
      }
    }
  }
}
