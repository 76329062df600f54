import { type Clock, Loop } from "@ostiary/lib/async";
import { followingIds } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { moveDue, selectLastId, tryLockFeed } from "./feed-sql.ts";
import { HOUR_MS } from "./usage-columns.ts";

interface UsageEventWriterDeps {
  database: Database;
  log: Pick<Logger, "warn">;
  clock: Clock;
}

/**
 * The time between the end of an hour and the writing of its usage events. A report that arrives later causes a
 * second event for the hour, so the delay keeps most counts to one event.
 */
const SETTLE_MS = 60_000;
const INTERVAL_MS = 10_000;
const RETRY_MS = 5_000;
/** The maximum number of events in one transaction. */
const EVENTS_MAX = 1_000;

/**
 * Moves the counts of past hours to the usage feed. All replicas may run this loop, but only one replica at a time
 * moves counts.
 */
export function usageEventWriter({ database, log, clock }: UsageEventWriterDeps): Loop {
  return new Loop({
    async task(stopping) {
      for (let written = EVENTS_MAX; written === EVENTS_MAX && !stopping(); ) {
        const nowMs = clock.now();
        written = await writeUsageEvents(database, nowMs - HOUR_MS - SETTLE_MS, nowMs, EVENTS_MAX);
      }
    },
    pauseMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    onFailure: (err) =>
      log.warn({ err }, "the audit service could not write usage events and will try again"),
    clock,
  });
}

/**
 * Moves at most `count` hourly counts to the feed, for hours that begin at `untilMs` or earlier. Returns the number of
 * moved counts. The feed is locked until the commit, so that ids follow the order of commits. A second replica moves
 * nothing while the feed is locked. A count that a report is changing is left for the next call.
 */
export function writeUsageEvents(
  database: Database,
  untilMs: number,
  nowMs: number,
  count: number,
): Promise<number> {
  return database.transaction("move_usage", async (tx) => {
    if (!(await tryLockFeed(tx))) return 0;
    return moveDue(tx, untilMs, followingIds(await selectLastId(tx), nowMs, count));
  });
}
