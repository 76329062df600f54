import { collectedGauge, DurationHistogram, type Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter } from "prom-client";
import type { OperatorReading } from "./operator/sql.ts";
import type { StatusReading } from "./status-readings.ts";

export interface DeliveryMetrics {
  called(result: "accepted" | "refused", seconds: number): void;
  delivered(entries: number): void;
  /** Counts a stream that was paused because its receiver is gone or failed for too long. */
  paused(): void;
}

export function createDeliveryMetrics({ registry }: Metrics): DeliveryMetrics {
  const registers = [registry];
  const durations = new DurationHistogram({
    name: "audit_stream_call_duration_seconds",
    help: "The duration of this replica's delivery requests, by result: accepted (2xx), or refused for any other reason.",
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10],
    registers,
  });
  const calls = {
    accepted: durations.series({ result: "accepted" }),
    refused: durations.series({ result: "refused" }),
  };
  const entries = new Counter({
    name: "audit_stream_entries_total",
    help: "Entries that receivers of streams accepted from this replica.",
    registers,
  });
  const paused = new Counter({
    name: "audit_streams_paused_total",
    help: "Streams that this replica paused: their receivers answered 410, or failed for 72 hours.",
    registers,
  });
  return {
    called: (result, seconds) => calls[result].observe(seconds),
    delivered: (count) => entries.inc(count),
    paused: () => paused.inc(),
  };
}

/** Registers the gauges of all streams. `readings` is called at each scrape. */
export function createStreamGauges({ registry }: Metrics, readings: () => readonly StatusReading[]): void {
  const byStatus = (pick: (reading: StatusReading) => number) => () =>
    readings().map((reading) => ({ labels: { status: reading.status }, value: pick(reading) }));
  collectedGauge(registry, {
    name: "audit_streams",
    help: "Streams by status: active, failing or paused. Each replica reports all of them.",
    read: byStatus(({ streams }) => streams),
  });
  collectedGauge(registry, {
    name: "audit_stream_lag_entries",
    help: "The largest backlog of a single stream, in entries, by status (active, failing, paused).",
    read: byStatus(({ lag_entries }) => lag_entries),
  });
  collectedGauge(registry, {
    name: "audit_stream_wait_seconds",
    help: "The longest time that a stream could have delivered an entry and did not. Pauses do not count.",
    read() {
      const found = readings();
      return found.length > 0 ? Math.max(...found.map(({ wait_s }) => wait_s)) : [];
    },
  });
}

/** Registers the gauges of the operator's own stream. */
export function createOperatorGauges({ registry }: Metrics, reading: () => OperatorReading | null): void {
  const read = (pick: (found: OperatorReading) => number) => () => {
    const found = reading();
    return found === null ? [] : pick(found);
  };
  collectedGauge(registry, {
    name: "audit_operator_stream_lag_seconds",
    help: "The age of the oldest leaf of the tree with entries that the operator's stream has not delivered.",
    read: read(({ lag_s }) => lag_s),
  });
  collectedGauge(registry, {
    name: "audit_operator_stream_failures",
    help: "Consecutive failed delivery requests of the operator's stream; 0 after a success.",
    read: read(({ failures }) => failures),
  });
}
