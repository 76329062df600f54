import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Gauge } from "prom-client";
import type { WitnessReading } from "./witnessing.ts";

/** Registers the gauges of witnesses. `reading` is asked at each scrape. */
export function createWitnessGauges({ registry }: Metrics, reading: () => WitnessReading): void {
  const registers = [registry];
  new Gauge({
    name: "audit_witnesses_behind",
    help: "Witnesses that have cosigned no root for a minute although there was one. The replica that seals tells it.",
    registers,
    collect() {
      this.set(reading().behind);
    },
  });
  new Gauge({
    name: "audit_witness_conflicts",
    help: "Witnesses that say that the log does not continue what they cosigned. The replica that seals tells it.",
    registers,
    collect() {
      this.set(reading().conflicts);
    },
  });
}
