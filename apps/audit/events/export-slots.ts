import { ApiError } from "@ostiary/lib/errors";

const RETRY_AFTER_SECONDS = 10;

export interface ExportLimits {
  /** Exports that run at once. */
  exports_max: number;
  /** Of those, exports of one log: the rest is for others. */
  per_log_max: number;
}

/** Exports keep a database connection for as long as their client reads: only so many run at once. */
export class ExportSlots {
  readonly #limits: ExportLimits;
  /** Exports under way, by log. */
  readonly #running = new Map<string, number>();
  #total = 0;

  constructor(limits: ExportLimits) {
    this.#limits = limits;
  }

  /** Takes a slot for an export of `log` and returns the function that gives it back; 429 when there is none. */
  take(log: string): () => void {
    const running = this.#running.get(log) ?? 0;
    if (running >= this.#limits.per_log_max) {
      throw tooMany("Too many exports of this log are running. Try again in a moment.");
    }
    if (this.#total >= this.#limits.exports_max) {
      throw tooMany("Too many exports are running. Try again in a moment.");
    }
    this.#count(log, 1);
    let held = true;
    return () => {
      if (held) this.#count(log, -1);
      held = false;
    };
  }

  #count(log: string, change: 1 | -1): void {
    const running = (this.#running.get(log) ?? 0) + change;
    if (running === 0) this.#running.delete(log);
    else this.#running.set(log, running);
    this.#total += change;
  }
}

function tooMany(message: string): ApiError {
  return new ApiError("RATE_LIMITED", {
    message,
    details: { retry_after_seconds: RETRY_AFTER_SECONDS },
    headers: { "Retry-After": String(RETRY_AFTER_SECONDS) },
  });
}
