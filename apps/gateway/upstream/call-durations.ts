import { DurationHistogram, type DurationSeries, type Metrics } from "@ostiary/lib/runtime/telemetry";

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const CLASSES = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** Measures the time from the start of a call to the response head, by service. */
export class CallDurations {
  readonly #histogram: DurationHistogram;
  readonly #services = new Map<string, ServiceCalls>();

  constructor(registry: Metrics["registry"]) {
    this.#histogram = new DurationHistogram({
      name: "gateway_upstream_duration_seconds",
      help: "Time from the start of an upstream call to the response head, by service and status class (none without a response).",
      buckets: BUCKETS_SECONDS,
      registers: [registry],
    });
  }

  of(service: string): ServiceCalls {
    const seriesOf = (status_class: string) => this.#histogram.series({ service, status_class });
    return this.#services.getOrInsertComputed(service, () => new ServiceCalls(seriesOf));
  }
}

class ServiceCalls {
  /** The series by the index of their class in {@link CLASSES}. */
  readonly #series: (DurationSeries | undefined)[] = [];
  readonly #seriesOf: (status_class: string) => DurationSeries;

  constructor(seriesOf: (status_class: string) => DurationSeries) {
    this.#seriesOf = seriesOf;
  }

  observe(status: number | null, seconds: number, trace_id: string | null): void {
    const index = status === null ? 0 : Math.trunc(status / 100);
    const series = this.#series[index] ?? this.#begin(index);
    series.observe(seconds, trace_id);
  }

  #begin(index: number): DurationSeries {
    const series = this.#seriesOf(CLASSES[index] ?? "none");
    this.#series[index] = series;
    return series;
  }
}
