import { type Clock, withDeadline } from "@ostiary/lib/async";
import { type ApiError, rateLimited } from "@ostiary/lib/domain/errors";

const RETRY_AFTER_SECONDS = 10;
/** The maximum number of exports that run at once. Half of the read connections stay free for pages. */
const EXPORTS_MAX = 4;
const PER_LOG_MAX = 2;
/** The longest time that an export waits for a slot if no export of the same log has a slot. */
const WAIT_MS = 5_000;
/** The time between two checks for a slow reader while a log waits. */
const SLOWEST_CHECK_MS = 500;
const WAITING_MAX = 100;

export interface PaceLimits {
  bytesPerSecondMin: number;
  /** The maximum time that a client may fall behind the minimum pace. */
  lagMsMax: number;
}

export class ReaderTooSlow extends Error {}

/**
 * A client that reads slower than this multiple of the minimum pace counts as slow. Its export can be ended
 * to make room for another log.
 */
const SLOW_FACTOR = 16;

/**
 * An export's slot, from the request for the slot until its release, and the pace of the export's client. Time counts
 * only while the service waits for the client, not for the database. Fast reading early on does not offset a later lag.
 */
export class ExportSlot {
  readonly log: string;
  readonly #limits: PaceLimits;
  readonly #end = new AbortController();
  #lagMs = 0;
  #waitedMs = 0;
  #bytes = 0;

  constructor(log: string, limits: PaceLimits) {
    this.log = log;
    this.#limits = limits;
  }

  /** Aborted when the export must end to free its slot for another log. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  giveUp(): void {
    this.#end.abort();
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

  /** Returns the error for a client that lost its slot, or stayed below the minimum pace for too long. */
  tooSlow(): ReaderTooSlow {
    const { lagMsMax, bytesPerSecondMin } = this.#limits;
    return new ReaderTooSlow(
      this.signal.aborted
        ? "The client read slowly while another log waited for a slot."
        : `The client fell ${lagMsMax} ms behind ${bytesPerSecondMin} bytes a second.`,
    );
  }
}

/**
 * Limits how many exports run at once, because each one uses a database connection while its client reads.
 * The service cannot tell readers apart, so logs share the slots:
 * - The last free slot is reserved for a log that has no slot.
 * - A freed slot goes to a waiting log.
 * - While a log waits, the slowest of the slow readers loses its slot, at most one for each wait.
 */
export class ExportSlots {
  readonly #clock: Clock;
  readonly #running = new Set<ExportSlot>();
  /** Waiting exports in the order of arrival, at most one for each log. */
  readonly #waiting = new Map<ExportSlot, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with a function that releases the slot. Rejects with ApiError 429 if no slot becomes free in time. */
  async take(slot: ExportSlot): Promise<() => void> {
    const own = countOf(this.#running, slot.log);
    if (own >= PER_LOG_MAX) throw tooMany("exports of this log");
    const kept = own === 0 ? 0 : 1;
    if (this.#running.size + kept < EXPORTS_MAX) this.#running.add(slot);
    else if (own === 0) await this.#wait(slot);
    else throw tooMany("exports");
    return () => this.#release(slot);
  }

  async #wait(slot: ExportSlot): Promise<void> {
    if (this.#waiting.size >= WAITING_MAX || countOf(this.#waiting.keys(), slot.log) > 0) {
      throw tooMany("exports");
    }
    const granted = Promise.withResolvers<void>();
    this.#waiting.set(slot, granted.resolve);
    const stopLooking = this.#endSlowest();
    const late = () => tooMany("exports");
    await withDeadline(granted.promise, WAIT_MS, late, this.#clock)
      .catch((error: unknown) => {
        // the slot may have been granted at the moment of the timeout
        if (!this.#running.has(slot)) {
          this.#waiting.delete(slot);
          throw error;
        }
      })
      .finally(stopLooking);
  }

  /** Ends the export of the slowest slow reader, now or as soon as there is one. Returns a function that stops this. */
  #endSlowest(): () => void {
    let cancel = () => {};
    const check = () => {
      const slowest = this.#slowest();
      if (slowest === undefined) cancel = this.#clock.after(SLOWEST_CHECK_MS, check);
      else slowest.giveUp();
    };
    check();
    return () => cancel();
  }

  /** Returns the slowest of the slow readers whose exports were not ended yet. */
  #slowest(): ExportSlot | undefined {
    return Array.from(this.#running)
      .filter(({ signal, isSlow }) => !signal.aborted && isSlow)
      .toSorted((a, b) => a.bytesPerSecond - b.bytesPerSecond)[0];
  }

  #release(slot: ExportSlot): void {
    if (!this.#running.delete(slot)) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [waiting, grant] = next;
    this.#waiting.delete(waiting);
    this.#running.add(waiting);
    grant();
  }
}

function countOf(slots: Iterable<ExportSlot>, log: string): number {
  let count = 0;
  for (const slot of slots) if (slot.log === log) count += 1;
  return count;
}

function tooMany(what: string): ApiError {
  const message = `Too many ${what} are running. Try again in a moment.`;
  return rateLimited(RETRY_AFTER_SECONDS, { message });
}
