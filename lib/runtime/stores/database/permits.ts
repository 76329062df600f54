/** Nobody returned a permit in time, or too many wait for one already. */
export class NoPermit extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoPermit";
  }
}

/**
 * Hands out a fixed number of permits, first come first served, with a limit on the wait and on how many wait.
 * It stands before a pool of connections, so that a burst waits here, where it can give up, and never in the
 * driver's queue.
 */
export class Permits {
  readonly #count: number;
  readonly #waiting_max: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number, waiting_max = Number.POSITIVE_INFINITY) {
    this.#count = count;
    this.#free = count;
    this.#waiting_max = waiting_max;
  }

  /** Whether nobody holds one. */
  get idle(): boolean {
    return this.#free === this.#count;
  }

  /**
   * Resolves with the function that gives the permit back; rejects with `NoPermit` after `timeout_ms`, and at
   * once when `waiting_max` wait already.
   */
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
    if (this.#waiting.size >= this.#waiting_max) {
      return Promise.reject(new NoPermit(`${this.#waiting_max} wait for a connection already.`));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(take);
        reject(new NoPermit(`No connection became free within ${timeout_ms} ms.`));
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

/** Permits for each of any number of lanes, which are there while someone is in them. */
export class Lanes {
  readonly #share: number;
  readonly #waiting_max: number;
  readonly #lanes = new Map<string, Permits>();

  /** `share` permits in each lane, and `waiting_max` that wait for one. */
  constructor(share: number, waiting_max: number) {
    this.#share = share;
    this.#waiting_max = waiting_max;
  }

  /** As {@link Permits.acquire}, in the lane of this name. */
  async acquire(name: string, timeout_ms: number): Promise<() => void> {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = new Permits(this.#share, this.#waiting_max);
      this.#lanes.set(name, lane);
    }
    const permits = lane;
    const release = await permits.acquire(timeout_ms);
    return () => {
      release();
      if (permits.idle && this.#lanes.get(name) === permits) this.#lanes.delete(name);
    };
  }
}
