import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { HOUR_MS } from "../totals.ts";
import { tellUsage } from "./sql.ts";

interface UsageTellerDeps {
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
export function usageTeller({ database, log, clock }: UsageTellerDeps): Loop {
  return new Loop({
    async task(stopping) {
      for (let told = EVENTS_MAX; told === EVENTS_MAX && !stopping(); ) {
        const nowMs = clock.now();
        told = await tellUsage(database, nowMs - HOUR_MS - SETTLE_MS, nowMs, EVENTS_MAX);
      }
    },
    pauseMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    onFailure: (err) =>
      log.warn({ err }, "the audit service could not write usage events and will try again"),
    clock,
  });
}
