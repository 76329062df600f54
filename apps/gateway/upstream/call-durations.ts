import { DurationHistogram, type DurationSeries, type Metrics } from "@ostiary/lib/runtime/telemetry";

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The classes of statuses, and `none` for a call without an answer. */
const CLASSES = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** Measures the time from a call to the head of its answer, by service. */
export class CallDurations {
  readonly #histogram: DurationHistogram;
  readonly #services = new Map<string, ServiceCalls>();

  constructor(registry: Metrics["registry"]) {
    this.#histogram = new DurationHistogram({
      name: "gateway_upstream_duration_seconds",
      help: "Time from a call to a service to the head of its answer, by the class of its status, or none without an answer.",
      labelNames: ["service", "status_class"],
      buckets: BUCKETS_SECONDS,
      registers: [registry],
    });
  }

  of(service: string): ServiceCalls {
    const known = this.#services.get(service);
    if (known !== undefined) return known;
    const calls = new ServiceCalls((status_class) => this.#histogram.series({ service, status_class }));
    this.#services.set(service, calls);
    return calls;
  }
}

/** Measures the calls of one service. */
class ServiceCalls {
  /** The series by the index of their class in {@link CLASSES}. */
  readonly #series: (DurationSeries | undefined)[] = [];
  readonly #seriesOf: (status_class: string) => DurationSeries;

  constructor(seriesOf: (status_class: string) => DurationSeries) {
    this.#seriesOf = seriesOf;
  }

  /** @param status null if the service gave no answer */
  observe(status: number | null, seconds: number, trace_id: string | null): void {
    const place = status === null ? 0 : Math.trunc(status / 100);
    const series = this.#series[place] ?? this.#begin(place);
    series.observe(seconds, trace_id);
  }

  #begin(place: number): DurationSeries {
    const series = this.#seriesOf(CLASSES[place] ?? "none");
    this.#series[place] = series;
    return series;
  }
}
