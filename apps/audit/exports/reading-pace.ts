export interface PaceLimits {
  bytesPerSecondMin: number;
  /** The maximum time that a client may fall behind the minimum pace. */
  lagMsMax: number;
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
  #lagMs = 0;
  #waitedMs = 0;
  #bytes = 0;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
  }

  /** Time that the client may still keep the service waiting. */
  get leftMs(): number {
    return Math.max(0, this.#limits.lagMsMax - this.#lagMs);
  }

  /** Average pace of the client; infinite if the service has never waited for the client. */
  get bytesPerSecond(): number {
    return this.#waitedMs === 0 ? Number.POSITIVE_INFINITY : (this.#bytes * 1000) / this.#waitedMs;
  }

  /** Whether this client reads slowly. False until the service has waited long enough for a reliable average. */
  get isSlow(): boolean {
    const { lagMsMax, bytesPerSecondMin } = this.#limits;
    return this.#waitedMs > lagMsMax && this.bytesPerSecond < SLOW_FACTOR * bytesPerSecondMin;
  }

  /** Records that the client read `bytes` after the service had waited for `waitedMs`. */
  took(bytes: number, waitedMs: number): void {
    this.#waitedMs += waitedMs;
    // bytes before the first wait only filled buffers
    if (this.#waitedMs > 0) this.#bytes += bytes;
    const dueMs = (bytes * 1000) / this.#limits.bytesPerSecondMin;
    this.#lagMs = Math.max(0, this.#lagMs + waitedMs - dueMs);
  }

  /** Returns the error for a client that stayed below the minimum pace for too long. */
  lagged(): ReaderTooSlow {
    const { lagMsMax, bytesPerSecondMin } = this.#limits;
    return new ReaderTooSlow(`The client fell ${lagMsMax} ms behind ${bytesPerSecondMin} bytes a second.`);
  }
}

/** An error for an export that broke off because its client read too slowly. */
export class ReaderTooSlow extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ReaderTooSlow";
  }
}
