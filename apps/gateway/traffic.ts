import type { CompiledRoute, RouteTraffic } from "@ostiary/lib/domain/routes";
import type { RequestMetrics } from "@ostiary/lib/runtime/telemetry";
import type { CallDurations } from "./upstream/call-durations.ts";

/**
 * Hands out the metrics of routes. Each route keeps its own from its first request on: among thousands of routes, the
 * memory that a look-up by name reads is seldom in the processor's cache.
 */
export class Traffic {
  /** The metrics of requests, those without a route included. */
  readonly requests: RequestMetrics;
  readonly #calls: CallDurations;

  constructor(requests: RequestMetrics, calls: CallDurations) {
    this.requests = requests;
    this.#calls = calls;
  }

  of(route: CompiledRoute): RouteTraffic {
    return route.traffic ?? this.#begin(route);
  }

  #begin(route: CompiledRoute): RouteTraffic {
    const requests = this.requests.series(route.path, route.method);
    const traffic = { requests, calls: this.#calls.of(route.service) };
    route.traffic = traffic;
    return traffic;
  }
}
