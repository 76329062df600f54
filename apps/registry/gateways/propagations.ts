import { type Clock, Loop } from "@ostiary/lib/async";
import type { Propagation } from "@ostiary/lib/contracts/registry-api";
import { INSTANCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { RouteStore, RouteSummary } from "@ostiary/lib/runtime/stores/route-store";
import { isOneOf } from "../registry-sql.ts";
import { services as serviceTable } from "../tables.ts";
import { readInstance, serves } from "./gateway.ts";

/** A committed write: its fence and the services that it changed. */
interface Commit {
  readonly fence: number;
  readonly services: readonly string[];
}

interface PropagationDeps {
  database: Database;
  routeStore: Pick<RouteStore, "list" | "summarize">;
  clock: Clock;
}

/** The pause between two polls of the gateways. */
const POLL_MS = 100;
const RETRY_MS = 250;

interface Wait {
  readonly fence: number;
  readonly services: ReadonlySet<string>;
  /** A summary of the route store that includes the write. Null until the write has reached the route store. */
  routes: RouteSummary | null;
  /** The running gateways, and those that serve the write, at the latest poll. */
  gateways: number;
  reached: number;
  readonly end: () => void;
}

/** Waits until every running gateway serves a write. All waits share each poll of the database and the route store. */
export class Propagations {
  readonly #deps: PropagationDeps;
  readonly #polling: Loop;
  readonly #waits = new Set<Wait>();
  #isOver = false;

  constructor(deps: PropagationDeps) {
    this.#deps = deps;
    this.#polling = new Loop({
      task: () => this.#poll(),
      pauseMs: POLL_MS,
      retryMs: RETRY_MS,
      // A failed poll does not end a wait: each wait reports its progress after its `wait_ms`.
      onFailure: () => {},
    });
  }

  start(): void {
    this.#polling.start();
  }

  /** Ends all waits, and makes later waits end at once. */
  endAll(): void {
    this.#isOver = true;
    for (const { end } of this.#waits) end();
  }

  async stop(): Promise<void> {
    this.endAll();
    await this.#polling.stop();
  }

  /** Polls without the pause if writes are awaited. Called after each attempt to project. */
  wake(): void {
    if (this.#waits.size > 0) this.#polling.wake();
  }

  /**
   * Waits until every running gateway serves a write, `wait_ms` is over or the client disconnects. Resolves with the
   * progress of the write.
   */
  async wait({ fence, services }: Commit, wait_ms: number, left: AbortSignal): Promise<Propagation> {
    const { clock } = this.#deps;
    const startedMs = clock.elapsedMs();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => resolve();
    const wait: Wait = { fence, services: new Set(services), routes: null, gateways: 0, reached: 0, end };
    if (!this.#isOver && !left.aborted) {
      const cancel = clock.after(wait_ms, end);
      left.addEventListener("abort", end, { once: true });
      this.#waits.add(wait);
      this.#polling.wake();
      await promise;
      this.#waits.delete(wait);
      left.removeEventListener("abort", end);
      cancel();
    }
    return {
      gateways: wait.gateways,
      reached: wait.reached,
      waited_ms: Math.round(clock.elapsedMs() - startedMs),
      projected: wait.routes !== null,
    };
  }

  async #poll(): Promise<void> {
    if (this.#waits.size === 0) return;
    const { database, routeStore } = this.#deps;
    const waits = [...this.#waits];
    const names = new Set(waits.flatMap(({ services }) => [...services]));
    const fences = await readProjectedFences(database, [...names]);
    const routes = await routeStore.summarize(ROUTES_PREFIX);
    const { entries } = await routeStore.list(INSTANCES_PREFIX);
    const instances = entries.map(readInstance).filter((instance) => instance !== null);
    for (const wait of waits) {
      const { fence, services } = wait;
      wait.gateways = instances.length;
      if ([...services].some((name) => (fences.get(name) ?? 0) < fence)) continue;
      const included = wait.routes ?? routes;
      wait.routes = included;
      wait.reached = instances.filter((instance) => serves(instance, included, services)).length;
      if (wait.reached === wait.gateways) wait.end();
    }
  }
}

/** Returns the fence that was last projected for each of `names`, or 0 before the first projection. */
async function readProjectedFences(
  database: Database,
  names: readonly string[],
): Promise<Map<string, number>> {
  const { name, projected_fence } = serviceTable;
  const found = await database.run("select_projected", (orm) =>
    orm.select({ name, projected_fence }).from(serviceTable).where(isOneOf(name, names)),
  );
  return new Map(found.map((row) => [row.name, row.projected_fence ?? 0]));
}
