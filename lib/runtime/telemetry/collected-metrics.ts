import { Counter, Gauge, type Metric, type Registry } from "prom-client";
import { DurationHistogram, type DurationSeries } from "./duration-histogram.ts";

export interface Reading {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

/** The value of a metric without labels, or a reading for each combination of label values. */
type Readings = number | Iterable<Reading>;

interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  /** Called by each scrape and export, which take the readings one at a time. */
  readonly read: () => Readings | Promise<Readings>;
}

/** The functions that read collected metrics. The library knows only the names and types of these metrics. */
const reads = new WeakMap<Metric, CollectedMetric["read"]>();

export function collectedGauge(registry: Registry, { name, help, read }: CollectedMetric): void {
  reads.set(new Gauge({ name, help, registers: [registry] }), read);
}

export function collectedCounter(registry: Registry, { name, help, read }: CollectedMetric): void {
  reads.set(new Counter({ name, help, registers: [registry] }), read);
}

/** Returns a reading for each entry of an object. The key of an entry is the value of `label`. */
export function readingsBy(label: string, counts: Readonly<Record<string, number>>): Reading[] {
  return Object.entries(counts).map(([key, value]) => ({ labels: { [label]: key }, value }));
}

/** A metric with its series, which can be iterated once. */
export type Family = { readonly name: string; readonly help: string } & (
  | { readonly type: "histogram"; readonly series: Iterable<DurationSeries> }
  | { readonly type: "counter" | "gauge"; readonly series: Iterable<Reading> }
);

export function familiesIn(registry: Registry): Promise<Family[]> {
  return Promise.all(
    registry.getMetricsAsArray().map(async ({ name, help }) => {
      const metric = registry.getSingleMetric(name);
      if (metric instanceof DurationHistogram) return { name, help, type: "histogram", series: metric.all };
      if (metric instanceof Counter) return { name, help, type: "counter", series: await readingsOf(metric) };
      if (metric instanceof Gauge) return { name, help, type: "gauge", series: await readingsOf(metric) };
      throw new TypeError(`The metric "${name}" must be a counter, a gauge or a DurationHistogram.`);
    }),
  );
}

async function readingsOf(metric: Counter | Gauge): Promise<Iterable<Reading>> {
  const readings = await reads.get(metric)?.();
  if (readings === undefined) return (await metric.get()).values;
  return typeof readings === "number" ? [{ labels: {}, value: readings }] : readings;
}
