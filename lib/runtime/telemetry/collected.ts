import { Counter, Gauge, type Registry } from "prom-client";
import type { Labels } from "./duration-histogram.ts";

/** A value at the time of a scrape. */
export interface Reading {
  readonly labels: Labels;
  readonly value: number;
}

export interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** Returns the current readings. A metric without readings is absent from the scrape. */
  readonly read: () => Iterable<Reading> | Promise<Iterable<Reading>>;
}

/** Adds a gauge that costs nothing until it is scraped. */
export function collectedGauge(
  registry: Registry,
  { name, help, labelNames = [], read }: CollectedMetric,
): void {
  new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      const readings = await read();
      this.reset();
      // Without labels the library would report 0 if there is no reading.
      if (labelNames.length === 0) this.remove();
      for (const { labels, value } of readings) this.set(labels, value);
    },
  });
}

/** Adds a counter whose value is counted elsewhere, in a plain number. */
export function collectedCounter(registry: Registry, metric: CollectedMetric): void {
  const { name, help, labelNames = [], read } = metric;
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      const readings = await read();
      this.reset();
      for (const { labels, value } of readings) this.inc(labels, value);
    },
  });
}

/** Returns the reading of a metric without labels. */
export function single(value: number): Reading[] {
  return [{ labels: {}, value }];
}
