import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Gauge } from "prom-client";
import type { WitnessReading } from "./witnessing.ts";

/** Registers the gauges of witnesses. `reading` is called at each scrape. */
export function createWitnessGauges({ registry }: Metrics, reading: () => WitnessReading): void {
  const registers = [registry];
  new Gauge({
    name: "audit_witnesses_behind",
    help: "Witnesses that have cosigned no root for a minute although a new root exists. Only the replica that seals counts them.",
    registers,
    collect() {
      this.set(reading().behind);
    },
  });
  new Gauge({
    name: "audit_witness_conflicts",
    help: "Witnesses that say that the log does not continue what they cosigned. Only the replica that seals counts them.",
    registers,
    collect() {
      this.set(reading().conflicts);
    },
  });
}
