import { type Clock, withDeadline } from "@ostiary/lib/async";
import { type ApiError, rateLimited } from "@ostiary/lib/domain/errors";
import { ReaderTooSlow, type ReadingPace } from "./pace.ts";

const RETRY_AFTER_SECONDS = 10;
/** The maximum number of exports that wait for a slot at once. */
const WAITING_MAX = 100;

export interface ExportLimits {
  /** The maximum number of exports that run at once. */
  exportsMax: number;
  /** The maximum number of exports of one log at once. */
  perLogMax: number;
  /** The longest time that an export waits for a slot if no export of the same log has a slot. */
  waitMs: number;
}

/** An export's slot, from the request for the slot until its release. The number of slots is limited. */
export class ExportPlace {
  /** The log that is exported. */
  readonly log: string;
  readonly pace: ReadingPace;
  readonly #end = new AbortController();

  constructor(log: string, pace: ReadingPace) {
    this.log = log;
    this.pace = pace;
  }

  /** Aborted when the export must end to free its slot for another log. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  giveUp(): void {
    this.#end.abort();
  }

  /** Returns the error for an export that lost its slot. */
  lost(): ReaderTooSlow {
    return new ReaderTooSlow("The client read slowly while another log waited for a place.");
  }
}

/**
 * Limits how many exports run at once, because each one uses a database connection while its client reads.
 * The service cannot tell readers apart, so logs share the slots:
 * - The last free slot is reserved for a log that has no slot.
 * - A freed slot goes to a waiting log.
 * - When a log starts to wait, the slowest of the slow readers loses its slot.
 */
export class ExportPermits {
  readonly #limits: ExportLimits;
  readonly #clock: Clock;
  readonly #running = new Set<ExportPlace>();
  /** Waiting exports in the order of arrival, at most one for each log. */
  readonly #waiting = new Map<ExportPlace, () => void>();

  constructor(limits: ExportLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * Resolves with a function that releases the slot. Rejects with ApiError 429 if no slot becomes free in
   * time.
   */
  async take(place: ExportPlace): Promise<() => void> {
    const { exportsMax, perLogMax } = this.#limits;
    const own = countOf(this.#running, place.log);
    if (own >= perLogMax) throw tooMany("exports of this log");
    const kept = own === 0 ? 0 : 1;
    if (this.#running.size + kept < exportsMax) this.#running.add(place);
    else if (own === 0) await this.#wait(place);
    else throw tooMany("exports");
    return () => this.#release(place);
  }

  async #wait(place: ExportPlace): Promise<void> {
    if (this.#waiting.size >= WAITING_MAX || countOf(this.#waiting.keys(), place.log) > 0) {
      throw tooMany("exports");
    }
    const granted = Promise.withResolvers<void>();
    this.#waiting.set(place, granted.resolve);
    this.#slowest()?.giveUp();
    const late = () => tooMany("exports");
    await withDeadline(granted.promise, this.#limits.waitMs, late, this.#clock).catch((error: unknown) => {
      // the slot may have been granted at the moment of the timeout
      if (!this.#running.has(place)) {
        this.#waiting.delete(place);
        throw error;
      }
    });
  }

  /** Returns the slowest of the slow readers whose exports were not ended yet. */
  #slowest(): ExportPlace | undefined {
    return Array.from(this.#running)
      .filter(({ signal, pace }) => !signal.aborted && pace.isSlow)
      .toSorted((a, b) => a.pace.bytesPerSecond - b.pace.bytesPerSecond)[0];
  }

  #release(place: ExportPlace): void {
    if (!this.#running.delete(place)) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [waiting, grant] = next;
    this.#waiting.delete(waiting);
    this.#running.add(waiting);
    grant();
  }
}

function countOf(places: Iterable<ExportPlace>, log: string): number {
  let count = 0;
  for (const place of places) if (place.log === log) count += 1;
  return count;
}

function tooMany(what: string): ApiError {
  const message = `Too many ${what} are running. Try again in a moment.`;
  return rateLimited(RETRY_AFTER_SECONDS, { message });
}
