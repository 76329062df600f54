import { type Clock, Loop } from "@ostiary/lib/async";
import type { Propagation } from "@ostiary/lib/contracts/registry-api";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { RouteStore, RouteSummary } from "@ostiary/lib/runtime/stores/route-store";
import { serves } from "./gateway.ts";
import { LiveGateways } from "./live-gateways.ts";
import { readProjectedFences } from "./sql.ts";

/** A committed write: its fence and the services that it changed. */
interface Commit {
  readonly fence: number;
  readonly services: readonly string[];
}

interface PropagationDeps {
  database: Database;
  routeStore: Pick<RouteStore, "list" | "watch" | "summarize">;
  clock: Clock;
}

/** The pause between two checks of whether another replica has projected a write. */
const LOOK_MS = 250;
const RETRY_MS = 250;

interface Wait {
  readonly fence: number;
  readonly services: ReadonlySet<string>;
  /** A summary of the route store that includes the write. Null until the write has reached the route store. */
  routes: RouteSummary | null;
  readonly end: () => void;
}

/**
 * Waits until every running gateway serves a write. All waits share one watch of the gateways, and one check
 * of the database and the route store after each projection.
 */
export class Propagations {
  readonly #deps: PropagationDeps;
  readonly #gateways: LiveGateways;
  readonly #looking: Loop;
  readonly #waits = new Set<Wait>();
  #isOver = false;

  constructor(deps: PropagationDeps) {
    this.#deps = deps;
    this.#gateways = new LiveGateways(deps.routeStore, () => this.#endReached());
    this.#looking = new Loop({
      task: () => this.#look(),
      pauseMs: LOOK_MS,
      retryMs: RETRY_MS,
      // A failed check does not end a wait: each wait reports its progress after its `wait_ms`.
      onFailure: () => {},
      clock: deps.clock,
    });
  }

  start(): void {
    this.#gateways.start();
    this.#looking.start();
  }

  /** Ends all waits, and makes later waits end at once. */
  endAll(): void {
    this.#isOver = true;
    for (const { end } of this.#waits) end();
  }

  async stop(): Promise<void> {
    this.endAll();
    await Promise.all([this.#gateways.stop(), this.#looking.stop()]);
  }

  /** Checks the awaited writes soon. Called after each attempt to project. */
  look(): void {
    if (this.#waits.size > 0) this.#looking.wake();
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
    const wait: Wait = { fence, services: new Set(services), routes: null, end };
    if (!this.#isOver && !left.aborted) {
      const cancel = clock.after(wait_ms, end);
      left.addEventListener("abort", end, { once: true });
      this.#waits.add(wait);
      this.#looking.wake();
      await promise;
      this.#waits.delete(wait);
      left.removeEventListener("abort", end);
      cancel();
    }
    return {
      gateways: this.#gateways.instances?.length ?? 0,
      reached: this.#reached(wait),
      waited_ms: Math.round(clock.elapsedMs() - startedMs),
      projected: wait.routes !== null,
    };
  }

  /** Finds the awaited writes that have reached the route store. */
  async #look(): Promise<void> {
    const unprojected = [...this.#waits].filter(({ routes }) => routes === null);
    if (unprojected.length === 0) return;
    const names = new Set(unprojected.flatMap(({ services }) => [...services]));
    const fences = await readProjectedFences(this.#deps.database, [...names]);
    const projected = unprojected.filter(({ fence, services }) =>
      [...services].every((name) => (fences.get(name) ?? 0) >= fence),
    );
    if (projected.length === 0) return;
    const routes = await this.#deps.routeStore.summarize(ROUTES_PREFIX);
    for (const wait of projected) wait.routes = routes;
    this.#endReached();
  }

  #endReached(): void {
    const gateways = this.#gateways.instances?.length;
    for (const wait of this.#waits) {
      if (wait.routes !== null && this.#reached(wait) === gateways) wait.end();
    }
  }

  #reached({ routes, services }: Wait): number {
    if (routes === null) return 0;
    const instances = this.#gateways.instances ?? [];
    return instances.filter((instance) => serves(instance, routes, services)).length;
  }
}
