import { Histogram, type HistogramConfiguration } from "prom-client";
import { systemClock } from "../../async/index.ts";

export type Labels = Readonly<Record<string, string>>;

/** One observation of a bucket, and the trace that it was made in. */
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
  /** For each bound what lies between it and the one below, then what lies above them all. */
  readonly #counts: number[];
  /** The latest of each bucket, sparse; null until there is one. */
  #exemplars: Exemplar[] | null = null;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = [...bounds.map(() => 0), 0];
  }

  /** @param trace_id of a trace that is recorded, which a scrape then names as an example */
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

  /** How many lie at or below each bound, and below `+Inf`: all of them. */
  cumulative(): { le: number | "+Inf"; count: number; exemplar: Exemplar | undefined }[] {
    let count = 0;
    return this.#counts.map((between, bucket) => {
      count += between;
      return { le: this.#bounds[bucket] ?? "+Inf", count, exemplar: this.#exemplars?.[bucket] };
    });
  }
}

/** A value as the library writes it out: `le` is its own, the others it shares with its series. */
interface Value {
  readonly metricName: string;
  readonly labels: { le?: number | "+Inf" };
  readonly sharedLabels: Labels;
  readonly value: number;
  readonly exemplar?: Exemplar;
}

/**
 * A histogram whose series are asked for once and then fed directly. The library's own spells the labels of each
 * observation into a key, which costs a request several times what it takes to count it.
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

  /** A series of its own: to be asked for once for each combination of label values. */
  series(labels: Labels): DurationSeries {
    const series = new DurationSeries(labels, this.#bounds);
    this.#series.push(series);
    return series;
  }

  /** What the library makes both its text, which leaves exemplars out, and `get` from. */
  async getForPromString() {
    const values = this.#series.flatMap((series) => valuesOf(this.#name, series));
    return { name: this.#name, help: this.#help, type: "histogram", aggregator: "sum", values };
  }
}

/** In the library's order: the buckets from below, sum, count. */
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
