import { Histogram, type HistogramConfiguration } from "prom-client";
import { systemClock } from "../../async/index.ts";

export type Labels = Readonly<Record<string, string>>;

/** An observation of a bucket, and its trace. */
export interface Exemplar {
  readonly trace_id: string;
  readonly value: number;
  readonly at_ms: number;
}

/** One combination of label values of a {@link DurationHistogram}. */
export class DurationSeries {
  readonly labels: Labels;
  sum_seconds = 0;
  readonly #bounds: readonly number[];
  /** The count of each bucket alone: up to each bound, then above the last bound. */
  readonly #counts: number[];
  /** The latest exemplar of each bucket, sparse, or null until the first one. */
  #exemplars: Exemplar[] | null = null;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = [...bounds.map(() => 0), 0];
  }

  /**
   * @param trace_id the id of a recorded trace, which a scrape then shows as an exemplar
   */
  observe(seconds: number, trace_id: string | null = null): void {
    let bucket = 0;
    while (seconds > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.sum_seconds += seconds;
    if (trace_id !== null) this.#keep(bucket, { trace_id, value: seconds, at_ms: systemClock.now() });
  }

  #keep(bucket: number, exemplar: Exemplar): void {
    this.#exemplars ??= [];
    this.#exemplars[bucket] = exemplar;
  }

  /** Returns the number of observations at or below each bound; `+Inf` includes all. */
  cumulative(): { le: number | "+Inf"; count: number; exemplar: Exemplar | undefined }[] {
    let count = 0;
    return this.#counts.map((between, bucket) => {
      count += between;
      return { le: this.#bounds[bucket] ?? "+Inf", count, exemplar: this.#exemplars?.[bucket] };
    });
  }
}

/** A value in the form of the library. `le` belongs to the value, the other labels to its series. */
interface Value {
  readonly metricName: string;
  readonly labels: { le?: number | "+Inf" };
  readonly sharedLabels: Labels;
  readonly value: number;
  readonly exemplar?: Exemplar;
}

/**
 * A histogram whose callers request a series once and then update it directly. The library's own histogram
 * turns the labels of each observation into a key, which costs several times as much as the count.
 */
export class DurationHistogram extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series: DurationSeries[] = [];

  constructor(configuration: HistogramConfiguration<string> & { buckets: number[] }) {
    super(configuration);
    this.#name = configuration.name;
    this.#help = configuration.help;
    this.#bounds = configuration.buckets;
  }

  /** Creates a series. Call it once for each combination of label values. */
  series(labels: Labels): DurationSeries {
    const series = new DurationSeries(labels, this.#bounds);
    this.#series.push(series);
    return series;
  }

  /**
   * Returns the values, without exemplars. The library builds the Prometheus text and the result of `get`
   * from them.
   */
  async getForPromString() {
    const values = this.#series.flatMap((series) => valuesOf(this.#name, series));
    return { name: this.#name, help: this.#help, type: "histogram", aggregator: "sum", values };
  }
}

/** Returns the values in the library's order: the buckets in rising order, sum, count. */
function valuesOf(name: string, series: DurationSeries): Value[] {
  const { labels: sharedLabels, sum_seconds } = series;
  const buckets = series.cumulative();
  return [
    ...buckets.map(({ le, count, exemplar }) => ({
      metricName: `${name}_bucket`,
      labels: { le },
      sharedLabels,
      value: count,
      exemplar,
    })),
    { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum_seconds },
    { metricName: `${name}_count`, labels: {}, sharedLabels, value: buckets.at(-1)?.count ?? 0 },
  ];
}
