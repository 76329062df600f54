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

/** How long to wait for reports after an hour's end, so that most counts need only one event. */
const SETTLE_MS = 60_000;
const INTERVAL_MS = 10_000;
const RETRY_MS = 5_000;
/** The maximum number of events in one transaction. */
const EVENTS_MAX = 1_000;

/** Moves the counts of past hours to the usage feed. All replicas may run it; only one at a time does the work. */
export function usageTeller({ database, log, clock }: UsageTellerDeps): Loop {
  return new Loop({
    async task(stopping) {
      for (let told = EVENTS_MAX; told === EVENTS_MAX && !stopping(); ) {
        const now_ms = clock.now();
        told = await tellUsage(database, now_ms - HOUR_MS - SETTLE_MS, now_ms, EVENTS_MAX);
      }
    },
    pause_ms: INTERVAL_MS,
    retry_ms: RETRY_MS,
    onFailure: (err) =>
      log.warn({ err }, "the audit service could not write usage events and will try again"),
    clock,
  });
}
