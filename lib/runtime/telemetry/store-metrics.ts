import type { Registry } from "prom-client";
import type { StoreObserver } from "../stores/observer.ts";
import { collectedCounter } from "./collected-metrics.ts";
import { DurationHistogram, type DurationSeries } from "./duration-histogram.ts";

const BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

interface Series {
  readonly labels: Readonly<Record<"db_system_name" | "db_operation_name" | "db_namespace", string>>;
  readonly durations: DurationSeries;
  failures: number;
}

/** Updates the `db_operation*` metrics (OP-48). */
export function storeObserver(registry: Registry): StoreObserver {
  const all: Series[] = [];
  const counted = (pick: (series: Series) => number) => () =>
    all.map((series) => ({ labels: series.labels, value: pick(series) })).filter(({ value }) => value > 0);
  collectedCounter(registry, {
    name: "db_operations_total",
    help: "Finished operations on the database, the route store or the counter store.",
    read: counted(({ durations }) => durations.count()),
  });
  collectedCounter(registry, {
    name: "db_operation_errors_total",
    help: "Failed operations on the database, the route store or the counter store.",
    read: counted(({ failures }) => failures),
  });
  const histogram = new DurationHistogram({
    name: "db_operation_duration_seconds",
    help: "Duration of operations on the database, the route store or the counter store, in seconds.",
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });

  /** Few operation names occur in several stores, so each list is short. */
  const known = new Map<string, Series[]>();
  const find = (system: string, operation: string, namespace: string): Series => {
    const found = known.getOrInsertComputed(operation, () => []);
    for (const series of found) {
      const { db_system_name, db_namespace } = series.labels;
      if (db_system_name === system && db_namespace === namespace) return series;
    }
    const labels = { db_system_name: system, db_operation_name: operation, db_namespace: namespace };
    const series = { labels, durations: histogram.series(labels), failures: 0 };
    all.push(series);
    found.push(series);
    return series;
  };
  return ({ system, operation, namespace, duration_ms, failed }) => {
    const series = find(system, operation, namespace);
    if (failed) series.failures++;
    series.durations.observe(duration_ms / 1000);
  };
}
