const TICK_MS = 25;

interface Waiting {
  readonly since_tick: number;
  readonly giveUp: (reason: Error) => void;
}

/**
 * Gives up calls that have waited for `timeout_ms`. Time is counted in ticks of the event loop: while a burst
 * keeps the process from reading answers that may long be there, it does not pass, so that a busy process does
 * not take a healthy server for a silent one. One timer serves all calls, and none runs while there are none.
 */
export class CallDeadline {
  readonly #timeout_ms: number;
  readonly #onSilence: () => void;
  /** In the order in which they began. */
  readonly #waiting = new Set<Waiting>();
  #tick = 0;
  #ticking = false;

  /** `onSilence` is told when calls were given up, before they reject. */
  constructor(timeout_ms: number, onSilence: () => void) {
    this.#timeout_ms = timeout_ms;
    this.#onSilence = onSilence;
  }

  /** What `call` comes to; rejects when that takes too long, and the call itself goes on then. */
  run<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { since_tick: this.#tick, giveUp: reject };
      this.#waiting.add(waiting);
      if (!this.#ticking) this.#nextTick();
      call.then(
        (value) => {
          this.#waiting.delete(waiting);
          resolve(value);
        },
        (error) => {
          this.#waiting.delete(waiting);
          reject(error);
        },
      );
    });
  }

  #nextTick(): void {
    this.#ticking = this.#waiting.size > 0;
    if (!this.#ticking) return;
    setTimeout(() => {
      this.#tick += 1;
      this.#giveUpLate();
      this.#nextTick();
    }, TICK_MS);
  }

  #giveUpLate(): void {
    const last_tick = this.#tick - this.#timeout_ms / TICK_MS;
    const late: Waiting[] = [];
    for (const waiting of this.#waiting) {
      if (waiting.since_tick >= last_tick) break;
      late.push(waiting);
    }
    if (late.length === 0) return;
    this.#onSilence();
    for (const waiting of late) {
      this.#waiting.delete(waiting);
      waiting.giveUp(new Error(`No answer within ${this.#timeout_ms} ms.`));
    }
  }
}
