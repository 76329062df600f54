import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type StatusReading, selectStatuses } from "./watch-queries.ts";

const READ_MS = 10_000;
const RETRY_MS = 5_000;

export interface StreamWatchDeps {
  reads: Database;
  clock: Clock;
  log: Pick<Logger, "warn">;
}

/**
 * Reads the states of all streams from the database, for the metrics. It runs without a key for secrets too:
 * then nothing is delivered, and the metrics must show that (AU-107).
 */
export class StreamWatch {
  readonly #loop: Loop;
  #readings: readonly StatusReading[] = [];

  constructor({ reads, clock, log }: StreamWatchDeps) {
    this.#loop = new Loop({
      task: async () => {
        this.#readings = await selectStatuses(reads);
      },
      pause_ms: READ_MS,
      retry_ms: RETRY_MS,
      onFailure: (err, retry_in_ms) => {
        this.#readings = [];
        log.warn({ err, retry_in_ms }, "the audit service could not read the states of streams");
      },
      clock,
    });
  }

  /** The newest reading: one for each status. Empty before the first one, and after one that failed. */
  get readings(): readonly StatusReading[] {
    return this.#readings;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }
}
