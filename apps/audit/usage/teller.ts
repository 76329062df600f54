import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { tellUsage } from "./feed-queries.ts";
import { HOUR_MS } from "./totals.ts";

export interface UsageTellerDeps {
  database: Database;
  log: Pick<Logger, "warn">;
  clock: Clock;
}

/** The time after an hour for which reports are awaited, so that most counts need one event. */
const SETTLE_MS = 60_000;
const INTERVAL_MS = 10_000;
const RETRY_MS = 5_000;
/** The maximum number of events in one transaction. */
const EVENTS_MAX = 1_000;

/** Tells the feed of usage about hours that are over. All replicas may run it; one at a time does the work. */
export class UsageTeller {
  readonly #deps: UsageTellerDeps;
  readonly #loop: Loop;

  constructor(deps: UsageTellerDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#loop = new Loop({
      task: (stopping) => this.#tell(stopping),
      pause_ms: INTERVAL_MS,
      retry_ms: RETRY_MS,
      onFailure: (error) =>
        log.warn({ err: error }, "the audit service could not write usage events and will try again"),
      clock,
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #tell(stopping: () => boolean): Promise<void> {
    const { database, clock } = this.#deps;
    for (let told = EVENTS_MAX; told === EVENTS_MAX && !stopping(); ) {
      const now_ms = clock.now();
      told = await tellUsage(database, now_ms - HOUR_MS - SETTLE_MS, now_ms, EVENTS_MAX);
    }
  }
}
