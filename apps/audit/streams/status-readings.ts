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

/** The newest readings. */
interface StreamReadings {
  /** One reading for each status. Empty before the first read and after a failed read. */
  statuses: readonly StatusReading[];
  /** The reading of the operator's own stream, or null if there is none. */
  operator: OperatorReading | null;
}

/**
 * Returns a loop that reads the states of all streams from the database, for the metrics. Runs without a key for
 * secrets too, because the metrics must show that organizations then get no deliveries (AU-107).
 */
export function watchStreams({ reads, clock, log, hasOperatorStream }: StreamWatchDeps) {
  const newest: StreamReadings = { statuses: [], operator: null };
  const loop = new Loop({
    task: async () => {
      newest.statuses = await selectStatuses(reads);
      if (hasOperatorStream) newest.operator = await selectOperatorReading(reads);
    },
    pauseMs: READ_MS,
    retryMs: RETRY_MS,
    onFailure: (err, retry_in_ms) => {
      Object.assign(newest, { statuses: [], operator: null });
      log.warn({ err, retry_in_ms }, "the audit service could not read the states of streams");
    },
    clock,
  });
  return { loop, newest };
}
