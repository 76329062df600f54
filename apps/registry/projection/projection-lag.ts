import type { Clock } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
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
