import { DurationHistogram, type DurationSeries, type Metrics } from "@ostiary/lib/runtime/telemetry";
import type { CloseReason } from "./connection.ts";

const BUCKETS_SECONDS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export class ServiceConnections {
  reused = 0;
  failed = 0;
  established = 0;
  readonly closed: Record<CloseReason, number>;
  readonly #connectSeconds: DurationSeries;

  constructor(connectSeconds: DurationSeries) {
    this.#connectSeconds = connectSeconds;
    this.closed = { idle: 0, aged: 0, service: 0, last: 0, abandoned: 0, broken: 0, malformed: 0 };
  }

  /** @param tookMs time from the first packet to the established connection */
  opened(tookMs: number): void {
    this.established += 1;
    this.#connectSeconds.observe(tookMs / 1000, null);
  }
}

export class ConnectionCounts {
  readonly #histogram: DurationHistogram;
  readonly #services = new Map<string, ServiceConnections>();

  /** @param registry the registry for the metric of connect times, or null for no metric */
  constructor(registry: Metrics["registry"] | null) {
    this.#histogram = new DurationHistogram({
      name: "gateway_upstream_connect_seconds",
      help: "Time to establish a connection to a service.",
      buckets: BUCKETS_SECONDS,
      registers: registry === null ? [] : [registry],
    });
  }

  of(service: string): ServiceConnections {
    return this.#services.getOrInsertComputed(
      service,
      () => new ServiceConnections(this.#histogram.series({ service })),
    );
  }

  entries(): Iterable<[service: string, counts: ServiceConnections]> {
    return this.#services;
  }
}
