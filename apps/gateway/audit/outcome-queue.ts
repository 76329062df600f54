import { Semaphore } from "@ostiary/lib/async";
import type { AuditOutcome } from "@ostiary/lib/contracts/audit";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import pRetry, { type Options } from "p-retry";
import type { AuditClient } from "./client.ts";
import type { AuditMetrics, WriteResult } from "./metrics.ts";

/**
 * Outcomes on their way to the audit service (Identity specification, Delivery). Each is tried until the
 * service has taken or refused it, with growing pauses of its own, so that one that fails holds up no other.
 */
export interface OutcomeQueue {
  push(request_id: string, outcome: AuditOutcome): void;
  /** Tries what is left at short intervals for at most `deadline_ms`, then drops it. */
  close(deadline_ms: number): Promise<void>;
}

export interface OutcomeQueueOptions {
  readonly client: Pick<AuditClient, "patchOutcome">;
  /** Outcomes that may be on their way at once. */
  readonly size: number;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly metrics: Pick<AuditMetrics, "written">;
}

const CALLS_MAX = 32;
const CALL_TIMEOUT_MS = 2_000;
const PATIENT: Options = {
  retries: Number.POSITIVE_INFINITY,
  minTimeout: 100,
  maxTimeout: 10_000,
  randomize: true,
};
const HURRIED: Options = { ...PATIENT, maxTimeout: 500 };

export function createOutcomeQueue({ client, size, log, metrics }: OutcomeQueueOptions): OutcomeQueue {
  const calls = new Semaphore(CALLS_MAX);
  const closing = new AbortController();
  const late = new AbortController();
  const idle = Promise.withResolvers<void>();
  let underway = 0;
  let failing = false;

  /** One call; rejects when the outcome is worth another. */
  async function tryOnce(request_id: string, outcome: AuditOutcome): Promise<WriteResult> {
    const status = await client.patchOutcome(request_id, outcome, CALL_TIMEOUT_MS);
    const result = resultOf(status);
    if (result === null) throw new Error(`the audit service answered ${status}`);
    if (result === "failed") {
      log.error({ request_id, outcome: outcome.outcome }, "the audit service refused an outcome");
    }
    noteSuccess();
    return result;
  }

  function noteSuccess(): void {
    if (failing) log.info({}, "the audit service takes outcomes again");
    failing = false;
  }

  function noteFailure(error: Error): void {
    if (!failing) log.warn({ reason: error.message, underway }, "the audit service takes no outcomes");
    failing = true;
  }

  /** What became of an outcome in the end. A stop cuts the pauses short; a call that succeeded is not repeated. */
  function deliver(request_id: string, outcome: AuditOutcome): Promise<WriteResult> {
    const { promise, resolve } = Promise.withResolvers<WriteResult>();
    let ended = false;
    const attempt = () =>
      calls.run(async () => {
        if (ended) return;
        resolve(await tryOnce(request_id, outcome));
        ended = true;
      });
    const onFailedAttempt = ({ error }: { error: Error }) => noteFailure(error);
    pRetry(attempt, { ...PATIENT, onFailedAttempt, signal: closing.signal })
      .catch(() => pRetry(attempt, { ...HURRIED, onFailedAttempt, signal: late.signal }))
      .catch(() => resolve("dropped"));
    return promise;
  }

  function end(result: WriteResult): void {
    if (late.signal.aborted) return;
    metrics.written("outcome", result);
    underway -= 1;
    if (underway === 0 && closing.signal.aborted) idle.resolve();
  }

  return {
    push(request_id, outcome) {
      if (underway >= size || closing.signal.aborted) {
        log.error(
          { request_id, outcome: outcome.outcome, status: outcome.status },
          "an audit outcome is dropped",
        );
        metrics.written("outcome", "dropped");
        return;
      }
      underway += 1;
      void deliver(request_id, outcome).then(end);
    },
    async close(deadline_ms) {
      closing.abort();
      if (underway > 0) {
        const timer = setTimeout(() => idle.resolve(), deadline_ms);
        await idle.promise;
        clearTimeout(timer);
      }
      late.abort();
      if (underway > 0) log.error({ outcomes: underway }, "audit outcomes are dropped: the service stops");
      for (let left = underway; left > 0; left--) metrics.written("outcome", "dropped");
    },
  };
}

/** What an answer means; null: try again. */
function resultOf(status: number): WriteResult | null {
  if (status >= 200 && status < 300) return "ok";
  if (status === 404) return "not_found";
  return status === 422 ? "failed" : null;
}
