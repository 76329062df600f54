import { collectedGauge, type Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter } from "prom-client";

/** Counts the work of this replica's sealer. */
export interface SealMetrics {
  sealed(entries: number): void;
  failed(): void;
}

/** Values that are read when metrics are scraped. */
interface SealReadings {
  lagMs(): number;
  alteredLogs(): number;
  isSetBack(): boolean;
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
  collectedGauge(registry, {
    name: "audit_database_set_back",
    help: "1 while the database lacks the root that this replica signed or read last, so that it seals nothing.",
    read: () => Number(readings.isSetBack()),
  });
  collectedGauge(registry, {
    name: "audit_altered_logs",
    help: "Logs that the sealer leaves out, because their rows are not what was sealed.",
    read: () => readings.alteredLogs(),
  });
  return {
    sealed: (count) => entries.inc(count),
    failed: () => failures.inc(),
  };
}
