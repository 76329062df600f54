import {
  collectedCounter,
  DurationHistogram,
  type DurationSeries,
  type Metrics,
} from "@ostiary/lib/runtime/telemetry";

type AuditWrite = "intent" | "outcome";
/**
 * The result of a write. `failed`: refused, or not accepted in time. `not_found`: the audit service has no
 * intent for the outcome. `dropped`: discarded before delivery.
 */
export type WriteResult = "ok" | "failed" | "not_found" | "dropped";

const INTENT_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

export type AuditMetrics = ReturnType<typeof createAuditMetrics>;

export function createAuditMetrics(registry: Metrics["registry"]) {
  const writes = { intent: new Map<WriteResult, number>(), outcome: new Map<WriteResult, number>() };
  collectedCounter(registry, {
    name: "audit_writes_total",
    help: "Writes to the audit service, by write (intent, outcome) and result (ok, failed, not_found, dropped).",
    read: () =>
      (["intent", "outcome"] as const).flatMap((write) =>
        Array.from(writes[write], ([result, value]) => ({ labels: { write, result }, value })),
      ),
  });
  const histogram = new DurationHistogram({
    name: "audit_intent_duration_seconds",
    help: "Time that requests waited until their audit intent was stored, by result (ok, failed).",
    buckets: INTENT_BUCKETS_SECONDS,
    registers: [registry],
  });
  const durations: { ok?: DurationSeries; failed?: DurationSeries } = {};
  return {
    /** Counts a write that has ended. A write with several attempts counts once. */
    written(write: AuditWrite, result: WriteResult) {
      writes[write].set(result, (writes[write].get(result) ?? 0) + 1);
    },
    intentTook(result: "ok" | "failed", seconds: number) {
      durations[result] ??= histogram.series({ result });
      durations[result].observe(seconds);
    },
  };
}
