import { type Clock, Semaphore, systemClock } from "@ostiary/lib/async";
import {
  type AuditOutcome,
  BATCH_MAX,
  type IdentifiedOutcome,
  type OutcomeWriteResult,
  outcomeResultsSchema,
} from "@ostiary/lib/contracts/audit";
import { reasonOf } from "@ostiary/lib/domain/errors";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { AuditClient } from "./audit-client.ts";
import type { AuditMetrics, WriteResult } from "./audit-metrics.ts";
import { BatchedCalls, type CallOptions, resultsReader } from "./batched-calls.ts";

interface OutcomeQueueOptions {
  readonly client: Pick<AuditClient, "patchOutcome" | "postOutcomes">;
  readonly size: number;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly metrics: Pick<AuditMetrics, "written">;
  readonly clock?: Clock;
  readonly tracing?: CallOptions["tracing"];
}

/** One attempt. A `result` of null means that it must be repeated, for `reason`. */
interface OutcomeTry {
  readonly result: WriteResult | null;
  readonly reason: string;
}

const CALLS_MAX = 32;
const CALL_TIMEOUT_MS = 2_000;
const PAUSE_MIN_MS = 100;
/**
 * The delay before an outcome is sent again after its first 404 (GW-145). In this time, the audit service may
 * store the late intent of the outcome.
 */
const LATE_INTENT_MS = 5_000;
/**
 * The minimum length of an outage: the time since the last accepted outcome. The first accepted outcome after
 * an outage ends the backoff of all other outcomes.
 */
const OUTAGE_MS = 1_000;

/**
 * The state of the queue. `open`: accepts outcomes, and uses long backoffs. `closing`: accepts no outcomes,
 * and retries quickly. `closed`: has dropped the remaining outcomes.
 */
type State = "open" | "closing" | "closed";
const PAUSE_MAX_MS: Readonly<Record<State, number>> = { open: 10_000, closing: 500, closed: 0 };

/**
 * The queue of outcomes for the audit service (GW-145). Each outcome is retried with its own backoff until
 * the audit service accepts or refuses it. A failing outcome therefore does not delay other outcomes.
 */
export class OutcomeQueue {
  readonly #options: OutcomeQueueOptions;
  readonly #clock: Clock;
  readonly #calls = new Semaphore(CALLS_MAX);
  readonly #batched: BatchedCalls<IdentifiedOutcome, OutcomeTry>;
  readonly #retries = new Set<() => void>();
  /** Callbacks that end the delay of outcomes whose intent may be stored late. */
  readonly #lateIntents = new Set<() => void>();
  #state: State = "open";
  #underway = 0;
  #failing = false;
  #takenMs = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | null = null;
  #onEmpty: () => void = () => {};

  constructor(options: OutcomeQueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#batched = new BatchedCalls(
      {
        itemsMax: BATCH_MAX,
        alone: ({ request_id, ...outcome }) => this.#alone(request_id, outcome),
        together: (outcomes) => this.#calls.run(() => options.client.postOutcomes(outcomes, CALL_TIMEOUT_MS)),
        triedBy,
        failedBy,
        resultsIn: resultsReader(outcomeResultsSchema, ({ result }) => ({
          result: RESULTS[result],
          reason: "the audit service responded to a batch",
        })),
      },
      { clock: this.#clock, tracing: options.tracing },
    );
  }

  get underway(): number {
    return this.#underway;
  }

  push(request_id: string, outcome: AuditOutcome): void {
    if (this.#state === "open" && this.#underway < this.#options.size) {
      this.#underway += 1;
      void this.#deliver(request_id, outcome);
      return;
    }
    const { log, metrics } = this.#options;
    log.error(
      { request_id, outcome: outcome.outcome, status: outcome.status },
      "the gateway dropped an audit outcome",
    );
    metrics.written("outcome", "dropped");
  }

  /** Retries the remaining outcomes at short intervals for at most `deadlineMs`, then drops them. */
  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#state = "closing";
    this.#cutPausesShort();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    const cancel = this.#clock.after(deadlineMs, resolve);
    if (this.#underway > 0) await promise;
    cancel();
    this.#state = "closed";
    this.#cutPausesShort();
    const { log, metrics } = this.#options;
    if (this.#underway > 0)
      log.error({ outcomes: this.#underway }, "the gateway dropped audit outcomes: it is stopping");
    for (let left = this.#underway; left > 0; left--) metrics.written("outcome", "dropped");
  }

  async #deliver(request_id: string, outcome: AuditOutcome): Promise<void> {
    let isMissing = false;
    for (let attempt = 0; ; attempt++) {
      const result = await this.#tryOnce(request_id, outcome, attempt);
      if (this.#state === "closed") return;
      if (result === "not_found" && !isMissing) {
        isMissing = true;
        await this.#pause(LATE_INTENT_MS, this.#lateIntents);
      } else if (result !== null) {
        return this.#delivered(result);
      } else {
        await this.#pause(PAUSE_MIN_MS * 2 ** attempt * (1 + Math.random()), this.#retries);
      }
    }
  }

  /**
   * Makes one attempt to deliver an outcome. Returns null if a retry is needed. Retries are sent alone,
   * because an outcome that fails every batch would delay other outcomes.
   */
  async #tryOnce(request_id: string, outcome: AuditOutcome, attempt: number): Promise<WriteResult | null> {
    if (this.#state === "closed") return null;
    const { result, reason } = await (attempt === 0
      ? this.#batched.withOthers({ request_id, ...outcome })
      : this.#alone(request_id, outcome));
    if (result === "failed")
      this.#options.log.error(
        { request_id, outcome: outcome.outcome },
        "the audit service refused an outcome",
      );
    this.#noteFailing(result === null, reason);
    return result;
  }

  #alone(request_id: string, outcome: AuditOutcome): Promise<OutcomeTry> {
    return this.#calls.run(() =>
      this.#options.client.patchOutcome(request_id, outcome, CALL_TIMEOUT_MS).then(triedBy, failedBy),
    );
  }

  #noteFailing(failing: boolean, reason: string): void {
    const { log } = this.#options;
    const wasFailing = this.#failing;
    this.#failing = failing;
    if (failing) {
      if (!wasFailing)
        log.warn({ reason, underway: this.#underway }, "the audit service is not accepting outcomes");
      return;
    }
    const nowMs = this.#clock.elapsedMs();
    const withoutMs = nowMs - this.#takenMs;
    this.#takenMs = nowMs;
    if (!wasFailing) return;
    log.info({}, "the audit service accepts outcomes again");
    if (withoutMs >= OUTAGE_MS) cutShort(this.#retries);
  }

  #delivered(result: WriteResult): void {
    this.#options.metrics.written("outcome", result);
    this.#underway -= 1;
    if (this.#underway === 0) this.#onEmpty();
  }

  #cutPausesShort(): void {
    cutShort(this.#retries);
    cutShort(this.#lateIntents);
  }

  #pause(wantedMs: number, pauses: Set<() => void>): Promise<void> {
    const pauseMs = Math.min(wantedMs, PAUSE_MAX_MS[this.#state]);
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        pauses.delete(end);
        resolve();
      };
      const cancel = this.#clock.after(pauseMs, end);
      pauses.add(end);
    });
  }
}

function cutShort(pauses: ReadonlySet<() => void>): void {
  for (const end of [...pauses]) end();
}

/** Returns the result of a PATCH whose response has `status`. */
function triedBy(status: number): OutcomeTry {
  const reason = `the audit service responded with ${status}`;
  if (status >= 200 && status < 300) return { result: "ok", reason };
  if (status === 404) return { result: "not_found", reason };
  return { result: status === 422 ? "failed" : null, reason };
}

function failedBy(error: unknown): OutcomeTry {
  return { result: null, reason: reasonOf(error) };
}

const RESULTS: Readonly<Record<OutcomeWriteResult["result"], WriteResult>> = {
  applied: "ok",
  already_final: "ok",
  not_found: "not_found",
  invalid: "failed",
};
