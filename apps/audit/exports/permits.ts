import { KeyedSemaphore, NoPermit, Semaphore } from "@ostiary/lib/async";
import { ApiError } from "@ostiary/lib/domain/errors";

const RETRY_AFTER_SECONDS = 10;
/** Who finds no permit is told so at once. */
const WAITING_MAX = 0;

export interface ExportLimits {
  /** Exports that run at once. */
  exports_max: number;
  /** Of those, exports of one log: the rest is for others. */
  per_log_max: number;
}

/** Exports keep a database connection for as long as their client reads: only so many run at once. */
export class ExportPermits {
  readonly #all: Semaphore;
  readonly #byLog: KeyedSemaphore;

  constructor({ exports_max, per_log_max }: ExportLimits) {
    this.#all = new Semaphore(exports_max, WAITING_MAX);
    this.#byLog = new KeyedSemaphore(per_log_max, WAITING_MAX);
  }

  /** Resolves with the function that gives a permit for an export of `log` back; 429 when there is none. */
  async take(log: string): Promise<() => void> {
    const releaseLog = await this.#byLog.acquire(log, 0).catch(tooMany("exports of this log"));
    try {
      const release = await this.#all.acquire(0).catch(tooMany("exports"));
      return () => {
        release();
        releaseLog();
      };
    } catch (error) {
      releaseLog();
      throw error;
    }
  }
}

function tooMany(what: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof NoPermit)) throw error;
    throw new ApiError("RATE_LIMITED", {
      message: `Too many ${what} are running. Try again in a moment.`,
      details: { retry_after_seconds: RETRY_AFTER_SECONDS },
      headers: { "Retry-After": String(RETRY_AFTER_SECONDS) },
    });
  };
}
