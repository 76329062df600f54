import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { makePartitions } from "./partitions-sql.ts";

const INTERVAL_MS = 60 * 60 * 1000;
/** Delay after the first failed attempt. Each further failure makes the delay longer, up to the normal interval. */
const RETRY_MS = INTERVAL_MS / 8;

/**
 * Returns the task that creates missing monthly partitions: once at `start`, which rejects on failure, then every hour,
 * and when `keep` is called. Concurrent callers of `keep` share one run.
 */
export function partitionKeeper({ database, log, clock }: { database: Database; log: Logger; clock: Clock }) {
  let keeping: Promise<void> | undefined;
  const run = async () => {
    const partitions = await makePartitions(database, clock.now());
    if (partitions.length > 0) log.info({ partitions }, "created audit partitions");
  };
  const keep = () => {
    keeping ??= run().finally(() => {
      keeping = undefined;
    });
    return keeping;
  };
  const loop = new Loop({
    task: keep,
    pauseMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    onFailure: (err) =>
      log.error({ err }, "the audit service could not maintain its partitions and will try again"),
    clock,
  });
  return {
    keep,
    async start() {
      await keep();
      loop.start(INTERVAL_MS);
    },
    async stop() {
      await loop.stop();
      await keeping?.catch(() => {}); // the caller of `keep` gets the error
    },
  };
}
