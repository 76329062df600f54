import { Histogram, type HistogramConfiguration } from "prom-client";
import { systemClock } from "../../async/index.ts";

export type Labels = Readonly<Record<string, string>>;

/** The trace of an observation in a bucket. */
export interface Exemplar {
  readonly trace_id: string;
  readonly value: number;
  readonly atMs: number;
}

/** The counts for one combination of label values of a {@link DurationHistogram}. */
export class DurationSeries {
  readonly labels: Labels;
  sumSeconds = 0;
  readonly #bounds: readonly number[];
  /**
   * The number of observations in each bucket, not cumulative. The last bucket is for values above the last
   * bound.
   */
  readonly #counts: number[];
  /** The latest exemplar by bucket, a sparse array. Null if there is no exemplar yet. */
  #exemplars: Exemplar[] | null = null;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = [...bounds.map(() => 0), 0];
  }

  /**
   * Counts an observation.
   *
   * @param trace_id the id of a recorded trace, which a scrape shows as an exemplar, or null
   */
  observe(seconds: number, trace_id: string | null = null): void {
    let bucket = 0;
    while (seconds > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.sumSeconds += seconds;
    if (trace_id !== null) this.#keep(bucket, { trace_id, value: seconds, atMs: systemClock.now() });
  }

  #keep(bucket: number, exemplar: Exemplar): void {
    this.#exemplars ??= [];
    this.#exemplars[bucket] = exemplar;
  }

  /** Returns the number of observations at or below each bound. `+Inf` includes all observations. */
  cumulative(): { le: number | "+Inf"; count: number; exemplar: Exemplar | undefined }[] {
    let count = 0;
    return this.#counts.map((between, bucket) => {
      count += between;
      return { le: this.#bounds[bucket] ?? "+Inf", count, exemplar: this.#exemplars?.[bucket] };
    });
  }
}

/**
 * A value in the form that the library expects. `le` is the only label of a value; the other labels belong to
 * its series.
 */
interface Value {
  readonly metricName: string;
  readonly labels: { le?: number | "+Inf" };
  readonly sharedLabels: Labels;
  readonly value: number;
  readonly exemplar?: Exemplar;
}

/**
 * A histogram whose callers create a series once and then update it directly. The library's own histogram
 * converts the labels of each observation to a key, which costs several times as much as the update.
 */
export class DurationHistogram extends Histogram {
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #series: DurationSeries[] = [];
  /** The series that were created, in order. */
  readonly all: Iterable<DurationSeries> = this.#series;

  constructor(configuration: HistogramConfiguration<string> & { buckets: number[] }) {
    super(configuration);
    this.name = configuration.name;
    this.help = configuration.help;
    this.#bounds = configuration.buckets;
  }

  /** Creates a series. It must be called only once for each combination of label values. */
  series(labels: Labels): DurationSeries {
    const series = new DurationSeries(labels, this.#bounds);
    this.#series.push(series);
    return series;
  }

  /** Overrides the method with which the library reads the values, for the Prometheus text and for `get`. */
  async getForPromString() {
    const values = this.#series.flatMap((series) => valuesOf(this.name, series));
    return { name: this.name, help: this.help, type: "histogram", aggregator: "sum", values };
  }
}

/**
 * Returns the values in the order that the library expects: the buckets with rising bounds, the sum and the
 * count.
 */
function valuesOf(name: string, series: DurationSeries): Value[] {
  const { labels: sharedLabels, sumSeconds } = series;
  const buckets = series.cumulative();
  return [
    ...buckets.map(({ le, count, exemplar }) => ({
      metricName: `${name}_bucket`,
      labels: { le },
      sharedLabels,
      value: count,
      exemplar,
    })),
    { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sumSeconds },
    { metricName: `${name}_count`, labels: {}, sharedLabels, value: buckets.at(-1)?.count ?? 0 },
  ];
}
