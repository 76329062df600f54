import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { listOutstandingAges } from "./queries.ts";

/** How far the route store is behind the database. */
export interface Lag {
  /** Services whose newest revision is not known to be in the route store. */
  outstanding: number;
  /** For how long the one of them has waited that has waited longest; 0 when there is none. */
  age_seconds: number;
}

/** A service whose newest revision is not known to be in the route store. */
export interface LateService {
  service: string;
  /** For how long it has waited. */
  age_seconds: number;
}

/** Later than this a projection is late: with a route store that takes keys it is made at once. */
const LATE_SECONDS = 30;
const LINE_PAUSE_MS = 60_000;
const LOOK_MS = 5_000;

interface Waiting {
  readonly projected_fence: number | null;
  readonly since_ms: number;
}

/**
 * Measures the lag. A service waits from the first of its writes that is not in the route store, however often
 * it is written meanwhile; what is first seen waiting, after a start for one, has waited since its newest write.
 */
export class ProjectionLag {
  readonly #database: Database;
  readonly #clock: Clock;
  #waiting = new Map<string, Waiting>();
  #measuring: Promise<LateService[]> | null = null;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async measure(): Promise<Lag> {
    const services = await this.list();
    return { outstanding: services.length, age_seconds: services[0]?.age_seconds ?? 0 };
  }

  /** All that wait, those that have waited longest first. Asks the database, once for all that ask at the same time. */
  list(): Promise<LateService[]> {
    this.#measuring ??= this.#list().finally(() => {
      this.#measuring = null;
    });
    return this.#measuring;
  }

  /** What readiness says of it: null unless a projection is late. */
  async warning(): Promise<string | null> {
    const lag = await this.measure();
    return isLate(lag) ? describe(lag) : null;
  }

  async #list(): Promise<LateService[]> {
    const rows = await listOutstandingAges(this.#database);
    const now_ms = this.#clock.now();
    const waiting = new Map<string, Waiting>();
    for (const { name, projected_fence, age_ms } of rows) {
      const known = this.#waiting.get(name);
      const isSame = known?.projected_fence === projected_fence;
      const since_ms = known && isSame ? known.since_ms : Math.min(now_ms, now_ms - age_ms);
      waiting.set(name, { projected_fence, since_ms });
    }
    this.#waiting = waiting;
    return Array.from(waiting, ([service, { since_ms }]) => ({
      service,
      age_seconds: (now_ms - since_ms) / 1_000,
    })).sort((a, b) => b.age_seconds - a.age_seconds);
  }
}

/** Tells the log of late projections: once a minute while there are any, and once when there are none any more. */
export class LagAlarm {
  readonly #log: Logger;
  readonly #clock: Clock;
  #lastLine_ms = Number.NEGATIVE_INFINITY;
  #isRaised = false;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  check(lag: Lag): void {
    if (isLate(lag)) this.#raise(lag);
    else if (this.#isRaised) {
      this.#isRaised = false;
      this.#log.info({}, "projections are no longer late");
    }
  }

  #raise(lag: Lag): void {
    const now_ms = this.#clock.elapsed_ms();
    if (now_ms - this.#lastLine_ms < LINE_PAUSE_MS) return;
    this.#lastLine_ms = now_ms;
    this.#isRaised = true;
    const { outstanding, age_seconds } = lag;
    this.#log.error({ outstanding, age_seconds }, `gateways do not have the newest routes: ${describe(lag)}`);
  }
}

/** Looks at the lag now and then and tells the log when it is too much. */
export function watchLag(lag: ProjectionLag, log: Logger, clock: Clock): Loop {
  const alarm = new LagAlarm(log, clock);
  const task = async () => alarm.check(await lag.measure());
  // that the database is away is told by what can not be done without it
  return new Loop({ task, pause_ms: LOOK_MS, retry_ms: LOOK_MS, onFailure: () => {}, clock });
}

function isLate({ age_seconds }: Lag): boolean {
  return age_seconds >= LATE_SECONDS;
}

function describe({ outstanding, age_seconds }: Lag): string {
  const what =
    outstanding === 1 ? "1 projection is outstanding" : `${outstanding} projections are outstanding`;
  return `${what}, for up to ${Math.floor(age_seconds)} s`;
}
