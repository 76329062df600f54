/** Nobody returned a permit in time. */
export class NoPermit extends Error {
  constructor(waited_ms: number) {
    super(`No connection became free within ${waited_ms} ms.`);
    this.name = "NoPermit";
  }
}

/**
 * Hands out a fixed number of permits, first come first served, with a limit on the wait. It stands before a
 * pool of connections, so that a burst waits here, where it can give up, and never in the driver's queue.
 */
export class Permits {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with the function that gives the permit back; rejects with `NoPermit` after `timeout_ms`. */
  async acquire(timeout_ms: number): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#handover(timeout_ms);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#release();
    };
  }

  #handover(timeout_ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(take);
        reject(new NoPermit(timeout_ms));
      }, timeout_ms);
      const take = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.add(take);
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
