import { DurationHistogram, type Metrics } from "@ostiary/lib/runtime/telemetry";
import { Counter } from "prom-client";

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
    help: "Streams that this replica paused: their receivers responded with 410, or failed for 72 hours.",
    registers,
  });
  return {
    called: (result, seconds) => calls[result].observe(seconds),
    delivered: (count) => entries.inc(count),
    paused: () => paused.inc(),
  };
}
