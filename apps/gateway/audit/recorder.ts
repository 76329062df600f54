import type { AuditIntent, AuditOutcome } from "@ostiary/lib/contracts/audit";
import { type ApiError, unavailable } from "@ostiary/lib/domain/errors";
import { peerTls } from "@ostiary/lib/runtime/config";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { Logger, Metrics, Tracing } from "@ostiary/lib/runtime/telemetry";
import { createAuditClient } from "./client.ts";
import type { AuditConfig } from "./config.ts";
import { IntentUnwritten, writeIntent } from "./intent.ts";
import { IntentCalls } from "./intent-calls.ts";
import { type AuditMetrics, createAuditMetrics } from "./metrics.ts";
import { OutcomeQueue } from "./outcome-queue.ts";

/** Steps 4 and 8 of a request: the two writes of an audit event (Identity specification, Delivery). */
export interface AuditRecorder {
  /** Whether audit is on for the deployment. */
  readonly enabled: boolean;
  /** Outcomes that the audit service has not taken yet. */
  readonly queued: number;
  /**
   * Resolves once the audit service holds the intent; the request may be forwarded only then.
   *
   * @throws ApiError 503 when it could not be written, after a `rejected` outcome was queued in case it was
   */
  intent(request_id: string, intent: AuditIntent): Promise<void>;
  /** Queues the outcome and returns at once; a full queue drops it, logs that and counts it. */
  outcome(request_id: string, outcome: AuditOutcome): void;
  /** Delivers what is queued for at most `deadline_ms`, then drops and counts the rest. */
  close(deadline_ms: number): Promise<void>;
}

export interface AuditRecorderOptions {
  readonly config: AuditConfig & { readonly INTERNAL_AUTH_TOKEN?: string };
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly registry: Metrics["registry"];
  /** Where traces are exported. */
  readonly tracing?: Tracing;
}

export function createAuditRecorder(options: AuditRecorderOptions): AuditRecorder {
  const { config, log, registry, tracing } = options;
  const metrics = createAuditMetrics(registry);
  if (!config.AUDIT_ENABLED) return recordNothing;
  if (config.AUDIT_URL === undefined)
    throw new StartRefused("AUDIT_URL is required unless AUDIT_ENABLED is false.");
  const client = createAuditClient(config.AUDIT_URL, config.INTERNAL_AUTH_TOKEN, {
    tls: peerTls(config, "AUDIT"),
    tracing,
  });
  const queue = new OutcomeQueue({ client, size: config.AUDIT_QUEUE_SIZE, log, metrics, tracing });
  const delivery: Delivery = { calls: new IntentCalls(client, { tracing }), queue, log, metrics };
  return {
    enabled: true,
    get queued() {
      return queue.underway;
    },
    intent: (request_id, intent) => recordIntent(delivery, request_id, intent),
    outcome: (request_id, outcome) => queue.push(request_id, outcome),
    close: (deadline_ms) => queue.close(deadline_ms),
  };
}

const recordNothing: AuditRecorder = {
  enabled: false,
  queued: 0,
  async intent() {},
  outcome() {},
  async close() {},
};

interface Delivery {
  readonly calls: IntentCalls;
  readonly queue: OutcomeQueue;
  readonly log: AuditRecorderOptions["log"];
  readonly metrics: AuditMetrics;
}

async function recordIntent(delivery: Delivery, request_id: string, intent: AuditIntent): Promise<void> {
  const started = performance.now();
  let result: "ok" | "failed" = "failed";
  try {
    await writeIntent(delivery.calls, { request_id, ...intent });
    result = "ok";
  } catch (error) {
    throw error instanceof IntentUnwritten ? refused(delivery, request_id, error) : error;
  } finally {
    delivery.metrics.written("intent", result);
    delivery.metrics.intentTook(result, (performance.now() - started) / 1000);
  }
}

/** The 503; an intent that may have landed unseen gets its outcome in the background. */
function refused({ queue, log }: Delivery, request_id: string, error: IntentUnwritten): ApiError {
  if (error.status === 422) log.error({ request_id }, "the audit service refused an intent");
  if (error.maybe_written) queue.push(request_id, { outcome: "rejected", status: 503 });
  return unavailable("network", error);
}
