import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type OperatorReading, selectOperatorReading } from "./operator/sql.ts";
import { type StatusReading, selectStatuses } from "./status-sql.ts";

const READ_MS = 10_000;
const RETRY_MS = 5_000;

interface StreamWatchDeps {
  reads: Database;
  clock: Clock;
  log: Pick<Logger, "warn">;
  hasOperatorStream: boolean;
}

/**
 * Reads the states of all streams from the database, for the metrics. Runs without a key for secrets too, because
 * the metrics must show that organizations then get no deliveries (AU-107).
 */
export class StreamWatch {
  readonly #loop: Loop;
  #readings: readonly StatusReading[] = [];
  #operator: OperatorReading | null = null;

  constructor({ reads, clock, log, hasOperatorStream }: StreamWatchDeps) {
    this.#loop = new Loop({
      task: async () => {
        this.#readings = await selectStatuses(reads);
        if (hasOperatorStream) this.#operator = await selectOperatorReading(reads);
      },
      pauseMs: READ_MS,
      retryMs: RETRY_MS,
      onFailure: (err, retry_in_ms) => {
        this.#readings = [];
        this.#operator = null;
        log.warn({ err, retry_in_ms }, "the audit service could not read the states of streams");
      },
      clock,
    });
  }

  /** The newest readings, one for each status. Empty before the first read and after a failed read. */
  get readings(): readonly StatusReading[] {
    return this.#readings;
  }

  /** The newest reading of the operator's own stream, or null if there is none. */
  get operator(): OperatorReading | null {
    return this.#operator;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }
}
