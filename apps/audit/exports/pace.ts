/** Limits on how slowly a client may read an export. */
export interface PaceLimits {
  bytes_per_second_min: number;
  /** The maximum time that a client may fall behind the minimum pace. */
  lag_ms_max: number;
}

/**
 * A client that reads slower than this multiple of the minimum pace counts as slow. Its export can be ended
 * to make room for another log.
 */
const SLOW_FACTOR = 16;

/**
 * The lag of one client behind the minimum pace, and its average pace. Time counts only while the service waits for
 * the client, not for the database. Fast reading early on does not offset a later lag.
 */
export class ReadingPace {
  readonly #limits: PaceLimits;
  #lag_ms = 0;
  #waited_ms = 0;
  #bytes = 0;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
  }

  /** Time that the client may still keep the service waiting. */
  get leftMs(): number {
    return Math.max(0, this.#limits.lag_ms_max - this.#lag_ms);
  }

  /** Average pace of the client; infinite if the service has never waited for the client. */
  get bytes_per_second(): number {
    return this.#waited_ms === 0 ? Number.POSITIVE_INFINITY : (this.#bytes * 1000) / this.#waited_ms;
  }

  /** Whether this client reads slowly. False until the service has waited long enough for a reliable average. */
  get isSlow(): boolean {
    const { lag_ms_max, bytes_per_second_min } = this.#limits;
    return this.#waited_ms > lag_ms_max && this.bytes_per_second < SLOW_FACTOR * bytes_per_second_min;
  }

  /** Records that the client read `bytes` after the service had waited for `waited_ms`. */
  took(bytes: number, waited_ms: number): void {
    this.#waited_ms += waited_ms;
    // bytes before the first wait only filled buffers
    if (this.#waited_ms > 0) this.#bytes += bytes;
    const due_ms = (bytes * 1000) / this.#limits.bytes_per_second_min;
    this.#lag_ms = Math.max(0, this.#lag_ms + waited_ms - due_ms);
  }

  /** Returns the error for a client that stayed below the minimum pace for too long. */
  lagged(): ReaderTooSlow {
    const { lag_ms_max, bytes_per_second_min } = this.#limits;
    return new ReaderTooSlow(
      `The client fell ${lag_ms_max} ms behind ${bytes_per_second_min} bytes a second.`,
    );
  }
}

/** An error for an export that broke off because its client read too slowly. */
export class ReaderTooSlow extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ReaderTooSlow";
  }
}
