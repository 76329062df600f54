import { collectedGauge, type Metrics } from "@ostiary/lib/runtime/telemetry";
import type { WitnessReading } from "./witnessing.ts";

/** Registers the gauges of witnesses. `reading` is called at each scrape. */
export function createWitnessGauges({ registry }: Metrics, reading: () => WitnessReading): void {
  collectedGauge(registry, {
    name: "audit_witnesses_behind",
    help: "Witnesses that have cosigned no root for a minute although a new root exists. Only the replica that seals counts them.",
    read: () => reading().behind,
  });
  collectedGauge(registry, {
    name: "audit_witness_conflicts",
    help: "Witnesses that say that the log does not continue what they cosigned. Only the replica that seals counts them.",
    read: () => reading().conflicts,
  });
}
