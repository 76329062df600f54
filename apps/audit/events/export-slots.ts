import { KeyedSemaphore, NoPermit, Semaphore } from "@ostiary/lib/async";
import { ApiError } from "@ostiary/lib/domain/errors";

const RETRY_AFTER_SECONDS = 10;
/** Who finds no slot is told so at once. */
const WAITING_MAX = 0;

export interface ExportLimits {
  /** Exports that run at once. */
  exports_max: number;
  /** Of those, exports of one log: the rest is for others. */
  per_log_max: number;
}

/** Exports keep a database connection for as long as their client reads: only so many run at once. */
export class ExportSlots {
  readonly #all: Semaphore;
  readonly #byLog: KeyedSemaphore;

  constructor({ exports_max, per_log_max }: ExportLimits) {
    this.#all = new Semaphore(exports_max, WAITING_MAX);
    this.#byLog = new KeyedSemaphore(per_log_max, WAITING_MAX);
  }

  /** Takes a slot for an export of `log` and resolves with the function that gives it back; 429 when there is none. */
  async take(log: string): Promise<() => void> {
    const leave = await orRefuse(
      this.#byLog.acquire(log, 0),
      "Too many exports of this log are running. Try again in a moment.",
    );
    try {
      const release = await orRefuse(
        this.#all.acquire(0),
        "Too many exports are running. Try again in a moment.",
      );
      return () => {
        release();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

async function orRefuse<T>(slot: Promise<T>, message: string): Promise<T> {
  try {
    return await slot;
  } catch (error) {
    if (!(error instanceof NoPermit)) throw error;
    throw new ApiError("RATE_LIMITED", {
      message,
      details: { retry_after_seconds: RETRY_AFTER_SECONDS },
      headers: { "Retry-After": String(RETRY_AFTER_SECONDS) },
    });
  }
}
