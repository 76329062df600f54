/** An object that waits for a poll of the event loop. */
export interface Polled {
  /** Called after the event loop has delivered all bytes that had arrived. */
  polled(): void;
}

/**
 * Waits for polls of the event loop, in which the runtime delivers the bytes and the closes that have arrived.
 * `setImmediate` runs before the next poll, and an immediate that an immediate schedules runs after that poll.
 * So two of them in succession enclose a poll.
 */
export class Polls {
  /** The objects that were added since the last immediate. A poll may be under way. */
  #added: Polled[] = [];
  /** The objects that were added before the last immediate, and so before the poll that follows it. */
  #enclosed: Polled[] = [];
  #isScheduled = false;

  /** Calls `polled` after a poll that begins later than this call. */
  after(waiting: Polled): void {
    this.#added.push(waiting);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = () => {
    const polled = this.#enclosed;
    this.#enclosed = this.#added;
    this.#added = [];
    this.#isScheduled = false;
    if (this.#enclosed.length > 0) this.#schedule();
    for (const each of polled) each.polled();
  };
}
