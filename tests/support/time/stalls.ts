const TICK_MS = 50;

/** Notices when this process did not run for a while, as on a machine without a free processor. */
export class Stalls {
  readonly #longerMs: number;
  readonly #timer = setInterval(() => this.lastMs, TICK_MS);
  #tickMs = performance.now();
  #lastMs = Number.NEGATIVE_INFINITY;

  /** @param longerMs the time above which a stall counts */
  constructor(longerMs: number) {
    this.#longerMs = longerMs;
  }

  /** The time at which the last stall ended, as a reading of `performance.now()`. */
  get lastMs(): number {
    const nowMs = performance.now();
    if (nowMs - this.#tickMs > TICK_MS + this.#longerMs) this.#lastMs = nowMs;
    this.#tickMs = nowMs;
    return this.#lastMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
