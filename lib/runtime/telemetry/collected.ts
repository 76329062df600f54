import { Counter, Gauge, type Registry } from "prom-client";
import type { Labels } from "./duration-histogram.ts";

/** A value as it is when a scrape asks for it. */
export interface Reading {
  readonly labels: Labels;
  readonly value: number;
}

export interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** What there is now. A metric whose source is away has no readings, and is absent from the scrape. */
  readonly read: () => Iterable<Reading> | Promise<Iterable<Reading>>;
}

/** A gauge that costs nothing until it is scraped. */
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
      // without labels the library would show 0 where there is no reading
      if (labelNames.length === 0) this.remove();
      for (const { labels, value } of readings) this.set(labels, value);
    },
  });
}

/** A counter that is counted elsewhere, by a plain number. */
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

/** The one reading of a metric without labels. */
export function single(value: number): Reading[] {
  return [{ labels: {}, value }];
}
