import { collectedGauge, type Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter } from "prom-client";

/** Counts the work of this replica's sealer. */
export interface SealMetrics {
  sealed(entries: number): void;
  failed(): void;
  setBack(): void;
}

/** Values that are read when metrics are scraped. */
interface SealReadings {
  lagMs(): number;
  alteredLogs(): number;
}

export function createSealMetrics({ registry }: Metrics, readings: SealReadings): SealMetrics {
  const registers = [registry];
  const entries = new Counter({
    name: "audit_sealed_entries_total",
    help: "Entries that this replica has sealed: one for each intent and each outcome in each log.",
    registers,
  });
  const failures = new Counter({
    name: "audit_seal_failures_total",
    help: "Failed passes of this replica's sealer; each is tried again.",
    registers,
  });
  collectedGauge(registry, {
    name: "audit_seal_lag_seconds",
    help: "How long the oldest event that is not sealed has waited.",
    read: () => readings.lagMs() / 1_000,
  });
  const setBacks = new Counter({
    name: "audit_set_backs_total",
    help: "How often this replica found that the database lacks a checkpoint that the replica had written.",
    registers,
  });
  collectedGauge(registry, {
    name: "audit_altered_logs",
    help: "Logs that no replica seals any further, because their chains were altered.",
    read: () => readings.alteredLogs(),
  });
  return {
    setBack: () => setBacks.inc(),
    sealed: (count) => entries.inc(count),
    failed: () => failures.inc(),
  };
}
