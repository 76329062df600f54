/** How slowly a client may read an export. */
export interface PaceLimits {
  bytes_per_second_min: number;
  /** How far a client may fall behind that pace. */
  lag_ms_max: number;
}

/**
 * How far one client is behind the least pace. Time counts only while the client lets us wait, so that a slow
 * database is never held against it; what it took early is not credited later.
 */
export class ReadingPace {
  readonly #limits: PaceLimits;
  #lag_ms = 0;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
  }

  /** How much longer the client may let us wait. */
  get left_ms(): number {
    return Math.max(0, this.#limits.lag_ms_max - this.#lag_ms);
  }

  /** The client took `bytes` after `waited_ms`. */
  took(bytes: number, waited_ms: number): void {
    const due_ms = (bytes * 1000) / this.#limits.bytes_per_second_min;
    this.#lag_ms = Math.max(0, this.#lag_ms + waited_ms - due_ms);
  }
}
