import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter, Gauge } from "prom-client";

/** What the sealer of this replica did, and how far the log is sealed. */
export interface SealMetrics {
  sealed(entries: number): void;
  failed(): void;
}

/** `lag_ms` is asked whenever the metrics are scraped. */
export function createSealMetrics({ registry }: Metrics, lag_ms: () => number): SealMetrics {
  const registers = [registry];
  const entries = new Counter({
    name: "audit_sealed_entries_total",
    help: "Entries that this replica has sealed: one for each intent and each outcome in each log.",
    registers,
  });
  const failures = new Counter({
    name: "audit_seal_failures_total",
    help: "Passes of this replica's sealer that failed; they are made again.",
    registers,
  });
  new Gauge({
    name: "audit_seal_lag_seconds",
    help: "For how long something that was committed may have waited to be sealed, by any replica.",
    registers,
    collect() {
      this.set(lag_ms() / 1_000);
    },
  });
  return { sealed: (count) => entries.inc(count), failed: () => failures.inc() };
}
