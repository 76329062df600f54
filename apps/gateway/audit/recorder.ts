import { type Clock, unstalledClock } from "@ostiary/lib/async";
import type { AuditIntent, AuditOutcome } from "@ostiary/lib/contracts/audit";
import { unavailable } from "@ostiary/lib/domain/errors";
import { peerTls } from "@ostiary/lib/runtime/config";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { Logger, Metrics, Tracing } from "@ostiary/lib/runtime/telemetry";
import { createAuditClient } from "./audit-client.ts";
import { createAuditMetrics } from "./audit-metrics.ts";
import type { AuditConfig } from "./config.ts";
import { IntentUnwritten, IntentWriter } from "./intent-writer.ts";
import { OutcomeQueue } from "./outcome-queue.ts";

/** The writer of audit events: steps 4 and 8 of a request (GW-136, GW-141). */
export interface AuditRecorder {
  readonly enabled: boolean;
  readonly queued: number;
  /**
   * Resolves when the audit service has stored the intent. Only then may the gateway forward the request.
   *
   * @throws ApiError 503 if the audit service did not confirm the intent. If the intent may be stored, a
   * `rejected` outcome is queued for it.
   */
  intent(request_id: string, intent: AuditIntent): Promise<void>;
  /**
   * Queues the outcome without waiting for its delivery. If the queue is full or closing, the outcome is
   * dropped, logged and counted.
   */
  outcome(request_id: string, outcome: AuditOutcome): void;
  /** Delivers queued outcomes for at most `deadlineMs`, then drops and counts the rest. */
  close(deadlineMs: number): Promise<void>;
}

interface AuditRecorderOptions {
  readonly config: AuditConfig & { readonly INTERNAL_AUTH_TOKEN?: string };
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly registry: Metrics["registry"];
  readonly tracing?: Tracing;
  readonly clock?: Clock;
}

export function createAuditRecorder(options: AuditRecorderOptions): AuditRecorder {
  const { config, log, registry, tracing, clock } = options;
  const metrics = createAuditMetrics(registry);
  if (!config.AUDIT_ENABLED) return recordNothing;
  if (config.AUDIT_URL === undefined)
    throw new StartRefused("AUDIT_URL is required unless AUDIT_ENABLED is false.");
  const client = createAuditClient(config.AUDIT_URL, config.INTERNAL_AUTH_TOKEN, {
    tls: peerTls(config, "AUDIT"),
    tracing,
    clock,
  });
  const queue = new OutcomeQueue({ client, size: config.AUDIT_QUEUE_SIZE, log, metrics, clock, tracing });
  const intents = new IntentWriter(client, { clock, tracing });
  const stopwatch = clock ?? unstalledClock;
  return {
    enabled: true,
    get queued() {
      return queue.underway;
    },
    async intent(request_id, intent) {
      const started = stopwatch.elapsedMs();
      let result: "ok" | "failed" = "failed";
      try {
        await intents.write({ request_id, ...intent });
        result = "ok";
      } catch (error) {
        if (!(error instanceof IntentUnwritten)) throw error;
        const { status, maybeWritten } = error.tried;
        if (status === 422) log.error({ request_id }, "the audit service refused an intent");
        if (maybeWritten) queue.push(request_id, { outcome: "rejected", status: 503 });
        throw unavailable("network", error);
      } finally {
        metrics.written("intent", result);
        metrics.intentTook(result, (stopwatch.elapsedMs() - started) / 1000);
      }
    },
    outcome: (request_id, outcome) => queue.push(request_id, outcome),
    close: (deadlineMs) => queue.close(deadlineMs).finally(() => client.close()),
  };
}

const recordNothing: AuditRecorder = {
  enabled: false,
  queued: 0,
  async intent() {},
  outcome() {},
  async close() {},
};
