import { Histogram, type Registry } from "prom-client";
import { systemClock } from "../../async/index.ts";

export type Labels = Readonly<Record<string, string>>;

export interface Exemplar {
  readonly trace_id: string;
  readonly value: number;
  readonly atMs: number;
}

/** The counts for one combination of label values of a {@link DurationHistogram}. */
export class DurationSeries {
  readonly labels: Labels;
  readonly bounds: readonly number[];
  /** The counts are not cumulative. The last bucket is for values above the last bound. */
  readonly counts: number[];
  sumSeconds = 0;
  /** The latest exemplar by bucket, sparse; null before the first. */
  #exemplars: Exemplar[] | null = null;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.bounds = bounds;
    this.counts = [...bounds.map(() => 0), 0];
  }

  /** @param trace_id the id of a recorded trace, which a scrape shows as an exemplar, or null */
  observe(seconds: number, trace_id: string | null = null): void {
    let bucket = 0;
    while (seconds > (this.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sumSeconds += seconds;
    if (trace_id === null) return;
    this.#exemplars ??= [];
    this.#exemplars[bucket] = { trace_id, value: seconds, atMs: systemClock.now() };
  }

  count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  exemplarIn(bucket: number): Exemplar | undefined {
    return this.#exemplars?.[bucket];
  }
}

interface DurationHistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly buckets: number[];
  readonly registers: Registry[];
}

/**
 * A histogram whose callers create a series once and then update it directly. The library's own histogram
 * converts the labels of each observation to a key, 2.3 µs against 0.3 µs. The library
 * knows only the name of this histogram.
 */
export class DurationHistogram extends Histogram {
  readonly #bounds: readonly number[];
  readonly #series: DurationSeries[] = [];
  /** The series that were created, in order. */
  readonly all: Iterable<DurationSeries> = this.#series;

  constructor(options: DurationHistogramOptions) {
    super(options);
    this.#bounds = options.buckets;
  }

  /** Creates a series. It must be called only once for each combination of label values. */
  series(labels: Labels): DurationSeries {
    const series = new DurationSeries(labels, this.#bounds);
    this.#series.push(series);
    return series;
  }
}
