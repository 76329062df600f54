import type { CompiledRoute, RouteTraffic } from "@ostiary/lib/domain/routes";
import type { RequestMetrics } from "@ostiary/lib/runtime/telemetry";
import type { CallDurations } from "./upstream/call-durations.ts";

/**
 * The metrics of all routes. A route object refers to its metrics, because lookups by name among thousands of
 * routes would often miss the processor's cache.
 */
export class Traffic {
  /** The metrics of all requests, including requests without a route. */
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
