import type { Registry } from "prom-client";
import { collectedCounter, type Reading } from "./collected-metrics.ts";
import { DurationHistogram, type DurationSeries } from "./duration-histogram.ts";

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Updates `http_requests_total` and `http_request_duration_seconds` (OP-47). */
export interface RequestMetrics {
  /** `route` is a matched template, never a path: each value stays in memory for the lifetime of the process. */
  series(route: string, method: string): CountedRequests;
}

/** Nearly all requests have the same status, so a field of its own holds the count of the first status. */
class CountedRequests {
  readonly #durations: DurationSeries;
  #status = 0;
  #count = 0;
  #others: Map<number, number> | null = null;

  constructor(durations: DurationSeries) {
    this.#durations = durations;
  }

  observe(status: number, duration_ms: number, trace_id: string | null = null): void {
    this.#durations.observe(duration_ms / 1000, trace_id);
    if (this.#count === 0) this.#status = status;
    if (status === this.#status) this.#count += 1;
    else this.#countOther(status);
  }

  *countByStatus(): Generator<[status: number, count: number]> {
    if (this.#count > 0) yield [this.#status, this.#count];
    if (this.#others !== null) yield* this.#others;
  }

  #countOther(status: number): void {
    this.#others ??= new Map();
    this.#others.set(status, (this.#others.get(status) ?? 0) + 1);
  }
}

export function requestMetrics(registry: Registry): RequestMetrics {
  const all = new Map<string, Map<string, CountedRequests>>();
  function* readings(): Generator<Reading> {
    for (const [route, byMethod] of all) {
      for (const [method, series] of byMethod) {
        for (const [status, value] of series.countByStatus())
          yield { labels: { route, method, status }, value };
      }
    }
  }
  collectedCounter(registry, {
    name: "http_requests_total",
    help: "Requests with a response, by matched route template, method and status.",
    read: readings,
  });
  const histogram = new DurationHistogram({
    name: "http_request_duration_seconds",
    help: "Seconds from the arrival of a request to the start of its response, by matched route template and method. The gateway measures a stream or WebSocket to its end.",
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  const newMap = () => new Map<string, CountedRequests>();
  return {
    series: (route, method) =>
      all
        .getOrInsertComputed(route, newMap)
        .getOrInsertComputed(method, () => new CountedRequests(histogram.series({ route, method }))),
  };
}
