/** An object that waits for a turn of the event loop, which ends with a poll. */
export interface TurnWaiter {
  /** Called after the event loop has delivered all bytes that had arrived. */
  afterTurn(): void;
}

/**
 * Waits for polls of the event loop, in which the runtime delivers the bytes and the closes that have arrived.
 * `setImmediate` runs before the next poll, and an immediate that an immediate schedules runs after that poll.
 * So two of them in succession enclose a poll.
 */
export class EventLoopTurns {
  /** The objects that were added since the last immediate. A poll may be under way. */
  #added: TurnWaiter[] = [];
  /** The objects that were added before the last immediate, and so before the poll that follows it. */
  #enclosed: TurnWaiter[] = [];
  #isScheduled = false;

  /** Calls `afterTurn` after a poll that begins later than this call. */
  after(waiting: TurnWaiter): void {
    this.#added.push(waiting);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#immediate);
  }

  readonly #immediate = () => {
    const waiters = this.#enclosed;
    this.#enclosed = this.#added;
    this.#added = [];
    this.#isScheduled = false;
    if (this.#enclosed.length > 0) this.#schedule();
    for (const each of waiters) each.afterTurn();
  };
}
