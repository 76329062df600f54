import type { Clock } from "@ostiary/lib/async";
import { FENCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { type Desired, fenceOfAbsence, markProjected, raiseFence, readDesired } from "./queries.ts";

/** Fences count microseconds since 1970. One that is recorded and further ahead was never given out. */
const AHEAD_MAX_MS = 86_400_000;

/** What became of an attempt: `superseded` when the route store has something newer. */
export type ProjectionResult = "written" | "unchanged" | "superseded";

export interface ProjectionDeps {
  database: Database;
  routeStore: RouteStore;
  log: Logger;
  clock: Clock;
}

/**
 * Makes the route store say what the database says of one service. The state is read after the decision to
 * write it, and written under its fence, so no attempt, however late it arrives and whichever replica made it,
 * can put an older revision in place of a newer one (contract 3).
 */
export class Projection {
  readonly #deps: ProjectionDeps;

  constructor(deps: ProjectionDeps) {
    this.#deps = deps;
  }

  /** Repairs what a comparison found wrong, whoever did it: the key of `name` is put, replaced or removed. */
  async repair(name: string): Promise<ProjectionResult> {
    const { database, routeStore, log } = this.#deps;
    const desired = await readDesired(database, name);
    const actual = await routeStore.get(ROUTES_PREFIX + name);
    if ((actual?.value ?? null) === (desired?.config ?? null)) return "unchanged";
    const result = desired ? await this.project(desired) : await this.#removeUnknown(name);
    if (result === "written") log.warn({ service_name: name }, "route store repaired");
    return result;
  }

  /** Writes what was read as the newest revision of a service. */
  async project(desired: Desired): Promise<ProjectionResult> {
    const { name, fence, config } = desired;
    const isWritten = await this.#deps.routeStore.writeFenced({
      key: ROUTES_PREFIX + name,
      value: config,
      fence: { key: FENCES_PREFIX + name, value: fence },
    });
    if (!isWritten) return this.#refused(desired);
    await markProjected(this.#deps.database, name, fence);
    return "written";
  }

  /**
   * A greater fence is recorded. Its holder committed before it wrote, so the database shows it by now; when
   * it does not, the database is older than the route store (it was restored from a backup), and is right.
   */
  async #refused({ name, fence }: Desired): Promise<ProjectionResult> {
    const { database, log } = this.#deps;
    const newest = await readDesired(database, name);
    if (newest?.fence === fence) {
      log.warn({ service_name: name }, "route store is ahead of the database; the database wins");
      await raiseFence(database, name, fence, await this.#recordedFence(name));
      const raised = await readDesired(database, name);
      return raised === undefined ? "superseded" : this.project(raised);
    }
    return "superseded";
  }

  async #removeUnknown(name: string): Promise<ProjectionResult> {
    const { database, routeStore } = this.#deps;
    const fence = await fenceOfAbsence(database, name, await this.#recordedFence(name));
    if (fence === null) return "superseded";
    const isWritten = await routeStore.writeFenced({
      key: ROUTES_PREFIX + name,
      value: null,
      fence: { key: FENCES_PREFIX + name, value: fence },
    });
    return isWritten ? "written" : "superseded";
  }

  /** The fence recorded for `name`, 0 for none. One that can not be ours is removed: it would block for ever. */
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
