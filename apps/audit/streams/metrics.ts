import type { Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter, Gauge, Histogram } from "prom-client";
import type { OperatorReading } from "./operator/sql.ts";
import type { StatusReading } from "./status-sql.ts";

/** Counts the deliveries of this replica. */
export interface DeliveryMetrics {
  called(result: "accepted" | "refused", seconds: number): void;
  delivered(entries: number): void;
  /** Counts a stream that was paused because its receiver is gone or failed for too long. */
  paused(): void;
}

export function createDeliveryMetrics({ registry }: Metrics): DeliveryMetrics {
  const registers = [registry];
  const calls = new Histogram({
    name: "audit_stream_call_duration_seconds",
    help: "The duration of this replica's delivery requests, by result: accepted (2xx), or refused for any other reason.",
    labelNames: ["result"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10],
    registers,
  });
  for (const result of ["accepted", "refused"]) calls.zero({ result });
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
    called: (result, seconds) => calls.observe({ result }, seconds),
    delivered: (count) => entries.inc(count),
    paused: () => paused.inc(),
  };
}

/** Registers the gauges of all streams. `readings` is called at each scrape. */
export function createStreamGauges({ registry }: Metrics, readings: () => readonly StatusReading[]): void {
  const registers = [registry];
  new Gauge({
    name: "audit_streams",
    help: "Streams by status: active, failing or paused. Each replica reports all of them.",
    labelNames: ["status"],
    registers,
    collect() {
      this.reset();
      for (const { status, streams } of readings()) this.set({ status }, streams);
    },
  });
  new Gauge({
    name: "audit_stream_lag_entries",
    help: "The largest backlog of a single stream, in entries, by status (active, failing, paused).",
    labelNames: ["status"],
    registers,
    collect() {
      this.reset();
      for (const { status, lag_entries } of readings()) this.set({ status }, lag_entries);
    },
  });
  new Gauge({
    name: "audit_stream_wait_seconds",
    help: "The longest time that a stream could have delivered an entry and did not. Pauses do not count.",
    registers,
    collect() {
      const found = readings();
      if (found.length > 0) this.set(Math.max(...found.map(({ wait_s }) => wait_s)));
      else this.remove();
    },
  });
}

/** Registers the gauges of the operator's own stream. */
export function createOperatorGauges({ registry }: Metrics, reading: () => OperatorReading | null): void {
  const gauge = (name: string, help: string, read: (found: OperatorReading) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const found = reading();
        if (found === null) this.remove();
        else this.set(read(found));
      },
    });
  gauge(
    "audit_operator_stream_lag_seconds",
    "The age of the oldest checkpoint that the operator's stream has not delivered.",
    ({ lag_s }) => lag_s,
  );
  gauge(
    "audit_operator_stream_failures",
    "Consecutive failed delivery requests of the operator's stream; 0 after a success.",
    ({ failures }) => failures,
  );
}
