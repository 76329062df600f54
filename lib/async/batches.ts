import { type Clock, systemClock } from "./clock.ts";

/** An item of a batch. The work on the batch settles its promise. */
export interface Member<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
  /** The result of {@link SharedContext.held} when the item was added. */
  readonly held: unknown;
}

/** Passes the context of each item, such as the trace of its request, to the work on a batch. */
export interface SharedContext {
  held(): unknown;
  together<T>(held: readonly unknown[], work: () => T): T;
}

export interface BatchOptions {
  readonly items_max: number;
  /** The maximum number of batches in progress. Without a value there is no maximum. */
  readonly batches_max?: number;
  /** Whether the first batch starts at once; false by default, for a start at the end of the event loop's turn. */
  readonly at_once?: boolean;
  /** The longest time that a partly filled batch waits for a batch in progress; 0 by default. */
  readonly wait_ms?: number;
  readonly context?: SharedContext;
  readonly clock?: Clock;
}

/**
 * The maximum number of batches that begin in one turn of the event loop. Further batches wait for the next
 * turn. Otherwise, work that fails at once and callers that retry at once would starve timers and sockets.
 */
const BATCHES_PER_TURN_MAX = 64;

/**
 * Gathers items that arrive at the same time and works on them in batches. Under load, a call for one item
 * costs client and server several times its share of a batch.
 */
export class Batches<Item, Result> {
  readonly #work: (members: readonly Member<Item, Result>[]) => Promise<unknown>;
  readonly #options: BatchOptions;
  #waiting: Member<Item, Result>[] = [];
  #inProgress = 0;
  /** The number of batches that `#isInTurn` allowed in this turn of the event loop. */
  #begunInTurn = 0;
  #cancelTimer: () => void = () => {};

  /** @param work settles every member and never rejects */
  constructor(work: (members: readonly Member<Item, Result>[]) => Promise<unknown>, options: BatchOptions) {
    this.#work = work;
    this.#options = options;
  }

  /** The number of items that no batch has taken yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: Item): Promise<Result> {
    const answer = this.gather(item);
    this.start();
    return answer;
  }

  /** Adds an item without a {@link start}, so that several items can share the first batch. */
  gather(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject, held: this.#options.context?.held() });
    });
  }

  /** Starts the batches that are due, or schedules the next batch. */
  start(): void {
    while (this.#isDue() && this.#isInTurn()) this.#begin();
    if (this.#waiting.length === 1) this.#schedule(this.#waiting);
  }

  /** Runs `work` on the items of `members`, in the contexts of all members. */
  together<T>(members: readonly Member<Item, Result>[], work: (items: Item[]) => T): T {
    const items = members.map(({ item }) => item);
    const { context } = this.#options;
    if (context === undefined) return work(items);
    const held = members.map((member) => member.held);
    return context.together(held, () => work(items));
  }

  #isDue(): boolean {
    const { items_max, batches_max = Number.POSITIVE_INFINITY, at_once = false } = this.#options;
    if (this.#inProgress >= batches_max) return false;
    if (this.#waiting.length >= items_max) return true;
    return at_once && this.#inProgress === 0 && this.#waiting.length > 0;
  }

  #schedule(waiting: readonly unknown[]): void {
    const { wait_ms = 0, clock = systemClock } = this.#options;
    const begin = () => {
      if (this.#waiting === waiting) this.#begin();
    };
    if (this.#inProgress === 0 || wait_ms === 0) setImmediate(begin);
    else if (Number.isFinite(wait_ms)) this.#cancelTimer = clock.after(wait_ms, begin);
  }

  #begin(): void {
    this.#cancelTimer();
    this.#inProgress++;
    void this.#work(this.#take()).then(() => {
      this.#inProgress--;
      const { wait_ms = 0 } = this.#options;
      const isLast = wait_ms > 0 && this.#inProgress === 0 && this.#waiting.length > 0;
      if (isLast && this.#isInTurn()) this.#begin();
      while (this.#isDue() && this.#isInTurn()) this.#begin();
    });
  }

  /** Counts a batch of this turn. Returns false when the batch must wait for the next turn. */
  #isInTurn(): boolean {
    if (this.#begunInTurn === BATCHES_PER_TURN_MAX) return false;
    if (this.#begunInTurn++ === 0) setImmediate(this.#beginTurn);
    return true;
  }

  readonly #beginTurn = (): void => {
    const isHeldUp = this.#begunInTurn === BATCHES_PER_TURN_MAX;
    this.#begunInTurn = 0;
    if (!isHeldUp) return;
    while (this.#isDue() && this.#isInTurn()) this.#begin();
    const { wait_ms = 0 } = this.#options;
    const isRest = this.#waiting.length > 0 && !this.#isDue();
    if (isRest && (wait_ms === 0 || this.#inProgress === 0)) this.#begin();
  };

  #take(): Member<Item, Result>[] {
    const { items_max } = this.#options;
    if (this.#waiting.length > items_max) return this.#waiting.splice(0, items_max);
    const batch = this.#waiting;
    this.#waiting = [];
    return batch;
  }
}

/** Resolves each member with the result at its index, or rejects it if there is none. */
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
