import type { CompiledRoute, RouteSeries } from "@ostiary/lib/domain/routes";
import type { RequestMetrics } from "@ostiary/lib/runtime/telemetry";
import type { CallDurations } from "./upstream/call-durations.ts";

/**
 * The metrics of all routes. A route object refers to its metrics, because lookups by name among thousands of
 * routes would often miss the processor's cache.
 */
export class RouteMetrics {
  /** The metrics of all requests, including requests without a route. */
  readonly requests: RequestMetrics;
  readonly #calls: CallDurations;

  constructor(requests: RequestMetrics, calls: CallDurations) {
    this.requests = requests;
    this.#calls = calls;
  }

  of(route: CompiledRoute): RouteSeries {
    return route.series ?? this.#begin(route);
  }

  #begin(route: CompiledRoute): RouteSeries {
    const requests = this.requests.series(route.path, route.method);
    const series = { requests, calls: this.#calls.of(route.service) };
    route.series = series;
    return series;
  }
}
