import type { AuditIntent, AuditOutcome } from "@ostiary/lib/audit";

/** Steps 4 and 8 of a request: the two writes of an audit event (Identity specification, Delivery). */
export interface AuditRecorder {
  /** Whether audit is on for the deployment. */
  readonly enabled: boolean;
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
