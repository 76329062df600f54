import { Counter, Gauge, type Metric, type Registry } from "prom-client";

/** The value of one series at the time of a scrape. */
export interface Reading {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * The value of a metric without labels, or the readings of all its series. A metric without readings is
 * missing from the scrape.
 */
type Readings = number | readonly Reading[];

interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly read: () => Readings | Promise<Readings>;
}

/** Adds a gauge whose value is computed at each scrape. */
export function collectedGauge(registry: Registry, metric: CollectedMetric): void {
  new Gauge({
    ...described(registry, metric),
    async collect() {
      const readings = listed(await metric.read());
      this.reset();
      // If there is no reading, the library would report 0 for a metric without labels.
      if (!metric.labelNames?.length) this.remove();
      for (const { labels, value } of readings) this.set(labels, value);
    },
  });
}

/** Adds a counter whose value is read at each scrape. */
export function collectedCounter(registry: Registry, metric: CollectedMetric): void {
  new Counter({
    ...described(registry, metric),
    async collect() {
      const readings = listed(await metric.read());
      this.reset();
      for (const { labels, value } of readings) this.inc(labels, value);
    },
  });
}

export interface SteppedCounter {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Returns one reading for each combination of label values. */
  readonly readings: () => Iterable<Reading>;
}

const steppedCounters = new WeakMap<Metric, SteppedCounter>();

/** Adds a counter with so many series that a scrape reads them one at a time: see {@link readingsOf}. */
export function steppedCounter(registry: Registry, counter: SteppedCounter): void {
  const { name, help, labelNames, readings } = counter;
  const metric = new Counter({
    ...described(registry, { name, help, labelNames }),
    collect() {
      this.reset();
      for (const { labels, value } of readings()) this.inc(labels, value);
    },
  });
  steppedCounters.set(metric, counter);
}

/** Returns the metrics of a registry, in the order of their registration. */
export function metricsIn(registry: Registry): Metric[] {
  return registry.getMetricsAsArray().flatMap(({ name }) => registry.getSingleMetric(name) ?? []);
}

/** Returns the counter that {@link steppedCounter} added, or undefined for another metric. */
export function readingsOf(metric: Metric): SteppedCounter | undefined {
  return steppedCounters.get(metric);
}

function described(registry: Registry, { name, help, labelNames = [] }: Omit<CollectedMetric, "read">) {
  return { name, help, labelNames: [...labelNames], registers: [registry] };
}

function listed(readings: Readings): readonly Reading[] {
  return typeof readings === "number" ? [{ labels: {}, value: readings }] : readings;
}

/** Returns a reading for each entry of an object. The key of an entry is the value of `label`. */
export function readingsBy(label: string, counts: Readonly<Record<string, number>>): Reading[] {
  return Object.entries(counts).map(([key, value]) => ({ labels: { [label]: key }, value }));
}
