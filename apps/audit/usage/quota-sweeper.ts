import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { deleteEndedCounts } from "./quota-sql.ts";

interface QuotaSweeperDeps {
  database: Database;
  log: Pick<Logger, "warn">;
  clock: Clock;
}

/** The time for which the count of an ended period is kept, because a gateway's clock may be up to a day behind. */
const KEPT_MS = 2 * 24 * 60 * 60 * 1000;
const INTERVAL_MS = 600_000;
const RETRY_MS = 60_000;
/** The maximum number of counts that one transaction removes. */
const REMOVED_MAX = 5_000;

/** Removes counts of quotas whose period has ended (AU-193). All replicas may run this loop. */
export function quotaSweeper({ database, log, clock }: QuotaSweeperDeps): Loop {
  return new Loop({
    async task(stopping) {
      for (let removed = REMOVED_MAX; removed === REMOVED_MAX && !stopping(); ) {
        removed = await deleteEndedCounts(database, clock.now() - KEPT_MS, REMOVED_MAX);
      }
    },
    pauseMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    onFailure: (err) =>
      log.warn({ err }, "the audit service could not remove ended quotas and will try again"),
    clock,
  });
}
