import { type Clock, Loop } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { listOutstandingAges } from "./sql.ts";

/** The lag of the route store behind the database. */
export interface Lag {
  /** The number of outstanding projections. */
  outstanding: number;
  /** The age of the oldest outstanding projection, or 0 if there is none. */
  age_seconds: number;
}

/** An outstanding projection: the route store may lack the newest revision of the service. */
interface LateService {
  service: string;
  /** The time since the oldest write that the route store may lack. */
  age_seconds: number;
}

/** The age at which a projection is late. While the route store accepts writes, a projection takes much less time. */
const LATE_SECONDS = 30;
const LINE_PAUSE_MS = 60_000;
const LOOK_MS = 5_000;

interface Waiting {
  readonly projected_fence: number | null;
  /** The clock's elapsed time when the service began to wait. Negative if the wait began before this process. */
  readonly sinceMs: number;
}

/**
 * Measures the lag. A service waits from its first write that is not in the route store, and later writes do
 * not reset its age. A service that is already waiting at the first measurement, as after a restart, counts
 * from its newest write.
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

  /** Lists the waiting services, oldest first. Concurrent calls share one query of the database. */
  list(): Promise<LateService[]> {
    this.#measuring ??= this.#list().finally(() => {
      this.#measuring = null;
    });
    return this.#measuring;
  }

  /** Returns the warning for the readiness probe, or null if no projection is late. */
  async warning(): Promise<string | null> {
    const lag = await this.measure();
    return isLate(lag) ? describe(lag) : null;
  }

  async #list(): Promise<LateService[]> {
    const rows = await listOutstandingAges(this.#database);
    const nowMs = this.#clock.elapsedMs();
    const waiting = new Map<string, Waiting>();
    for (const { name, projected_fence, ageMs } of rows) {
      const known = this.#waiting.get(name);
      const isSame = known?.projected_fence === projected_fence;
      const sinceMs = known && isSame ? known.sinceMs : Math.min(nowMs, nowMs - ageMs);
      waiting.set(name, { projected_fence, sinceMs });
    }
    this.#waiting = waiting;
    return Array.from(waiting, ([service, { sinceMs }]) => ({
      service,
      age_seconds: (nowMs - sinceMs) / 1_000,
    })).sort((a, b) => b.age_seconds - a.age_seconds);
  }
}

/** Logs late projections: one line a minute while a projection is late, and one line when none is late any more. */
export class LagAlarm {
  readonly #log: Logger;
  readonly #clock: Clock;
  #lastLineMs = Number.NEGATIVE_INFINITY;
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
    const nowMs = this.#clock.elapsedMs();
    if (nowMs - this.#lastLineMs < LINE_PAUSE_MS) return;
    this.#lastLineMs = nowMs;
    this.#isRaised = true;
    const { outstanding, age_seconds } = lag;
    this.#log.error({ outstanding, age_seconds }, `gateways may lack the newest routes: ${describe(lag)}`);
  }
}

/** Returns a loop that measures the lag periodically, and logs it when a projection is late. */
export function watchLag(lag: ProjectionLag, log: Logger, clock: Clock): Loop {
  const alarm = new LagAlarm(log, clock);
  const task = async () => alarm.check(await lag.measure());
  // a failure needs no report: operations that use the database report it
  return new Loop({ task, pauseMs: LOOK_MS, retryMs: LOOK_MS, onFailure: () => {}, clock });
}

function isLate({ age_seconds }: Lag): boolean {
  return age_seconds >= LATE_SECONDS;
}

function describe({ outstanding, age_seconds }: Lag): string {
  const what =
    outstanding === 1 ? "1 projection is outstanding" : `${outstanding} projections are outstanding`;
  return `${what}, for up to ${Math.floor(age_seconds)} s`;
}
