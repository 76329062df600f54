import type { Clock } from "@ostiary/lib/async";
import { FENCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { WRITERS_LANE } from "../publishing/publishing-sql.ts";
import { type Desired, fenceOfAbsence, markProjected, raiseFence, readDesired } from "./projection-sql.ts";

/** The maximum time by which a valid fence can be in the future. A fence is a time in microseconds. */
const AHEAD_MAX_MS = 86_400_000;

/** The result of an attempt to project a service. `superseded`: the route store has a newer fence. */
export type ProjectionResult = "written" | "unchanged" | "superseded";

export interface ProjectionDeps {
  database: Database;
  routeStore: RouteStore;
  log: Logger;
  clock: Clock;
}

/**
 * Projects one service from the database to the route store. Each state is written with its fence, so a late attempt
 * of any replica cannot replace a newer revision with an older one (RG-78).
 */
export class Projection {
  readonly #deps: ProjectionDeps;

  constructor(deps: ProjectionDeps) {
    this.#deps = deps;
  }

  /**
   * Creates, replaces or removes the key of a service if the key differs from the database. Leaves a service alone
   * whose projection is outstanding: its key differs until that projection has written it.
   */
  async repair(name: string): Promise<ProjectionResult> {
    const { database, routeStore, log } = this.#deps;
    const desired = await readDesired(database, name);
    if (desired?.outstanding) return "unchanged";
    const actual = await routeStore.get(ROUTES_PREFIX + name);
    if ((actual?.value ?? null) === (desired?.config ?? null)) return "unchanged";
    const result = desired ? await this.project(desired) : await this.#removeUnknown(name);
    if (result === "written")
      log.warn({ service_name: name }, "the registry repaired a key in the route store");
    return result;
  }

  /** Writes a state that was read as the newest revision of a service. */
  async project(desired: Desired): Promise<ProjectionResult> {
    if (!(await this.#write(desired))) return this.#refused(desired);
    await markProjected(this.#deps.database, desired.name, desired.fence);
    return "written";
  }

  #write({ name, fence, config }: Omit<Desired, "outstanding">): Promise<boolean> {
    return this.#deps.routeStore.writeFenced({
      key: ROUTES_PREFIX + name,
      value: config,
      fence: { key: FENCES_PREFIX + name, value: fence },
    });
  }

  /**
   * Handles a write that the route store refused because the store has a greater fence. Usually, the writer with
   * that fence committed first, so the database already contains that writer's revision. Otherwise the database was
   * restored from a backup, and the state of the database wins.
   */
  async #refused({ name, fence }: Desired): Promise<ProjectionResult> {
    const { database, log } = this.#deps;
    const newest = await readDesired(database, name);
    if (newest?.fence === fence) {
      log.warn(
        { service_name: name },
        "the registry replaces a newer state in the route store with the older state in the database",
      );
      const above = await this.#recordedFence(name);
      await database.transaction("raise_fence", (tx) => raiseFence(tx, name, fence, above), {
        lane: WRITERS_LANE,
      });
      const raised = await readDesired(database, name);
      return raised === undefined ? "superseded" : this.project(raised);
    }
    return "superseded";
  }

  async #removeUnknown(name: string): Promise<ProjectionResult> {
    const above = await this.#recordedFence(name);
    const fence = await this.#deps.database.transaction(
      "fence_of_absence",
      (tx) => fenceOfAbsence(tx, name, above),
      { lane: WRITERS_LANE },
    );
    if (fence === null) return "superseded";
    return (await this.#write({ name, fence, config: null })) ? "written" : "superseded";
  }

  /**
   * Returns the fence that the route store has recorded for `name`, or 0 if there is none. Removes an invalid fence,
   * which would block every write.
   */
  async #recordedFence(name: string): Promise<number> {
    const { routeStore, clock } = this.#deps;
    const entry = await routeStore.get(FENCES_PREFIX + name);
    if (entry === null) return 0;
    const recorded = /^\d{1,16}$/.test(entry.value) ? Number(entry.value) : Number.NaN;
    if (recorded / 1_000 <= clock.now() + AHEAD_MAX_MS) return recorded;
    await routeStore.delete(entry.key);
    return 0;
  }
}
