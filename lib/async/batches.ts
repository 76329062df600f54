import { type Clock, systemClock } from "./clock.ts";

/** An item of a batch, with the functions that settle its caller's promise. */
export interface Member<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
  /** The context in which the item was added, as {@link SharedContext.held} returned it. */
  readonly held: unknown;
}

export interface SharedContext {
  held(): unknown;
  /** Runs `work` in all contexts of a batch. */
  together<T>(held: readonly unknown[], work: () => T): T;
}

export interface BatchOptions {
  readonly itemsMax: number;
  /** The maximum number of batches in progress; unlimited by default. */
  readonly batchesMax?: number;
  /** Whether a batch starts at once when none is in progress, and not at the end of the event-loop iteration. */
  readonly atOnce?: boolean;
  /** The longest time that a partly filled batch waits for a batch in progress; 0 by default. */
  readonly waitMs?: number;
  readonly context?: SharedContext;
  readonly clock?: Clock;
}

/**
 * The batches that begin in one event-loop iteration. Without the limit, work that fails at once and callers that retry
 * at once would starve timers and sockets.
 */
const BATCHES_PER_ITERATION_MAX = 64;

/** Gathers items that arrive at the same time. A batch costs client and server several times less than calls. */
export class Batches<Item, Result> {
  readonly #work: (members: readonly Member<Item, Result>[]) => Promise<unknown>;
  readonly #options: BatchOptions;
  #waiting: Member<Item, Result>[] = [];
  #inProgress = 0;
  /** The number of batches that `#mayBegin` allowed in this event-loop iteration. */
  #begun = 0;
  #cancelTimer: () => void = () => {};

  /** @param work settles every member and never rejects */
  constructor(work: (members: readonly Member<Item, Result>[]) => Promise<unknown>, options: BatchOptions) {
    this.#work = work;
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: Item): Promise<Result> {
    const result = this.gather(item);
    this.start();
    return result;
  }

  /** Adds an item but starts no batch: callers gather several items, and then call {@link start}. */
  gather(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject, held: this.#options.context?.held() });
    });
  }

  start(): void {
    while (this.#isDue() && this.#mayBegin()) this.#begin();
    if (this.#waiting.length === 1) this.#schedule(this.#waiting);
  }

  together<T>(members: readonly Member<Item, Result>[], work: (items: Item[]) => T): T {
    const items = members.map(({ item }) => item);
    const { context } = this.#options;
    if (context === undefined) return work(items);
    const held = members.map((member) => member.held);
    return context.together(held, () => work(items));
  }

  #isDue(): boolean {
    const { itemsMax, batchesMax = Number.POSITIVE_INFINITY, atOnce = false } = this.#options;
    if (this.#inProgress >= batchesMax) return false;
    if (this.#waiting.length >= itemsMax) return true;
    return atOnce && this.#inProgress === 0 && this.#waiting.length > 0;
  }

  #schedule(waiting: readonly unknown[]): void {
    const { waitMs = 0, clock = systemClock } = this.#options;
    const begin = () => {
      if (this.#waiting === waiting) this.#begin();
    };
    if (this.#inProgress === 0 || waitMs === 0) setImmediate(begin);
    else if (Number.isFinite(waitMs)) this.#cancelTimer = clock.after(waitMs, begin);
  }

  #begin(): void {
    this.#cancelTimer();
    this.#inProgress++;
    void this.#work(this.#take()).then(() => {
      this.#inProgress--;
      const { waitMs = 0 } = this.#options;
      const isLast = waitMs > 0 && this.#inProgress === 0 && this.#waiting.length > 0;
      if (isLast && this.#mayBegin()) this.#begin();
      while (this.#isDue() && this.#mayBegin()) this.#begin();
    });
  }

  /** Counts a batch, and returns true if it may begin in this event-loop iteration. */
  #mayBegin(): boolean {
    if (this.#begun === BATCHES_PER_ITERATION_MAX) return false;
    if (this.#begun++ === 0) setImmediate(this.#beginIteration);
    return true;
  }

  readonly #beginIteration = (): void => {
    const isHeldUp = this.#begun === BATCHES_PER_ITERATION_MAX;
    this.#begun = 0;
    if (!isHeldUp) return;
    while (this.#isDue() && this.#mayBegin()) this.#begin();
    const { waitMs = 0 } = this.#options;
    const isRest = this.#waiting.length > 0 && !this.#isDue();
    if (isRest && (waitMs === 0 || this.#inProgress === 0)) this.#begin();
  };

  #take(): Member<Item, Result>[] {
    const { itemsMax } = this.#options;
    if (this.#waiting.length > itemsMax) return this.#waiting.splice(0, itemsMax);
    const batch = this.#waiting;
    this.#waiting = [];
    return batch;
  }
}

/** Resolves each member with the result at the same index. Rejects members without a result. */
export function resolveEach<Result>(
  members: readonly Member<unknown, Result>[],
  results: readonly Result[],
): void {
  for (const [index, { resolve, reject }] of members.entries()) {
    const result = results[index];
    if (result === undefined) reject(new Error("The batch has no result for an item."));
    else resolve(result);
  }
}

export function rejectEach(members: readonly Member<unknown, never>[], error: unknown): void {
  for (const { reject } of members) reject(error);
}
