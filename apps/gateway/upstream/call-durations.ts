import { DurationHistogram, type DurationSeries, type Metrics } from "@ostiary/lib/runtime/telemetry";

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** How a call of a service ended: the class of its status, `none` without an answer. */
const CLASSES = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** Times calls of services, from the call to the head of the answer, by service. */
export class CallDurations {
  readonly #histogram: DurationHistogram;
  /** By service, then by the place of the class in {@link CLASSES}. */
  readonly #series = new Map<string, (DurationSeries | undefined)[]>();

  constructor(registry: Metrics["registry"]) {
    this.#histogram = new DurationHistogram({
      name: "gateway_upstream_duration_seconds",
      help: "Time from a call of a service to the head of its answer, by the class of its status; none: no answer.",
      labelNames: ["service", "status_class"],
      buckets: BUCKETS_SECONDS,
      registers: [registry],
    });
  }

  /** @param status null where the service gave no answer */
  observe(service: string, status: number | null, seconds: number, trace_id: string | null): void {
    const place = status === null ? 0 : Math.trunc(status / 100);
    const ofService = this.#series.get(service) ?? this.#begin(service);
    const series = ofService[place] ?? this.#beginSeries(ofService, service, place);
    series.observe(seconds, trace_id);
  }

  #begin(service: string): (DurationSeries | undefined)[] {
    const begun: (DurationSeries | undefined)[] = [];
    this.#series.set(service, begun);
    return begun;
  }

  #beginSeries(ofService: (DurationSeries | undefined)[], service: string, place: number): DurationSeries {
    const series = this.#histogram.series({ service, status_class: CLASSES[place] ?? "none" });
    ofService[place] = series;
    return series;
  }
}
