import { type Clock, systemClock } from "@ostiary/lib/async";
import type { AuditOutcome } from "@ostiary/lib/contracts/audit";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { AuditClient } from "./client.ts";
import type { CallOptions } from "./gathered-calls.ts";
import type { AuditMetrics, WriteResult } from "./metrics.ts";
import { OutcomeCalls } from "./outcome-calls.ts";

export interface OutcomeQueueOptions {
  readonly client: Pick<AuditClient, "patchOutcome" | "postOutcomes">;
  /** Outcomes that may be on their way at once. */
  readonly size: number;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly metrics: Pick<AuditMetrics, "written">;
  readonly clock?: Clock;
  readonly tracing?: CallOptions["tracing"];
}

const PAUSE_MIN_MS = 100;
/**
 * The first write that is taken after so long without any ends an outage: whoever paused because of it goes on. In
 * less time than that it may be one that fails for good among others that do not.
 */
const OUTAGE_MS = 1_000;

/**
 * open: takes outcomes, with long pauses while the service fails. closing: takes none, and hurries. closed: what
 * is left was dropped.
 */
type State = "open" | "closing" | "closed";
const PAUSE_MAX_MS: Readonly<Record<State, number>> = { open: 10_000, closing: 500, closed: 0 };

/**
 * Outcomes on their way to the audit service (Identity specification, Delivery). Each is tried until the
 * service has taken or refused it, with growing pauses of its own, so that one that fails holds up no other.
 */
export class OutcomeQueue {
  readonly #options: OutcomeQueueOptions;
  readonly #clock: Clock;
  readonly #calls: OutcomeCalls;
  readonly #pauses = new Set<() => void>();
  #state: State = "open";
  #underway = 0;
  #failing = false;
  #taken_ms = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | null = null;
  #onEmpty: () => void = () => {};

  constructor(options: OutcomeQueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#calls = new OutcomeCalls(options.client, { clock: this.#clock, tracing: options.tracing });
  }

  /** Outcomes that are on their way. */
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
      "an audit outcome is dropped",
    );
    metrics.written("outcome", "dropped");
  }

  /** Tries what is left at short intervals for at most `deadline_ms`, then drops it. */
  close(deadline_ms: number): Promise<void> {
    this.#closing ??= this.#close(deadline_ms);
    return this.#closing;
  }

  async #close(deadline_ms: number): Promise<void> {
    this.#state = "closing";
    this.#cutPausesShort();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    const cancel = this.#clock.after(deadline_ms, resolve);
    if (this.#underway > 0) await promise;
    cancel();
    this.#state = "closed";
    this.#cutPausesShort();
    const { log, metrics } = this.#options;
    if (this.#underway > 0)
      log.error({ outcomes: this.#underway }, "audit outcomes are dropped: the service stops");
    for (let left = this.#underway; left > 0; left--) metrics.written("outcome", "dropped");
  }

  async #deliver(request_id: string, outcome: AuditOutcome): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const result = await this.#tryOnce(request_id, outcome, attempt);
      if (this.#state === "closed") return;
      if (result !== null) return this.#delivered(result);
      await this.#pause(attempt);
    }
  }

  /**
   * What became of the outcome; null when it is to be tried again. Alone then: an outcome that fails whatever it
   * travels with must not hold up others.
   */
  async #tryOnce(request_id: string, outcome: AuditOutcome, attempt: number): Promise<WriteResult | null> {
    if (this.#state === "closed") return null;
    const { result, reason } = await (attempt === 0
      ? this.#calls.withOthers(request_id, outcome)
      : this.#calls.alone(request_id, outcome));
    if (result === "failed")
      this.#options.log.error(
        { request_id, outcome: outcome.outcome },
        "the audit service refused an outcome",
      );
    this.#noteFailing(result === null, reason);
    return result;
  }

  /** An outage is told when it begins and when it ends. */
  #noteFailing(failing: boolean, reason: string): void {
    const { log } = this.#options;
    const was_failing = this.#failing;
    this.#failing = failing;
    if (failing) {
      if (!was_failing) log.warn({ reason, underway: this.#underway }, "the audit service takes no outcomes");
      return;
    }
    const now_ms = this.#clock.elapsed_ms();
    const without_ms = now_ms - this.#taken_ms;
    this.#taken_ms = now_ms;
    if (!was_failing) return;
    log.info({}, "the audit service takes outcomes again");
    if (without_ms >= OUTAGE_MS) this.#cutPausesShort();
  }

  #delivered(result: WriteResult): void {
    this.#options.metrics.written("outcome", result);
    this.#underway -= 1;
    if (this.#underway === 0) this.#onEmpty();
  }

  #pause(attempt: number): Promise<void> {
    const pause_ms = Math.min(PAUSE_MIN_MS * 2 ** attempt * (1 + Math.random()), PAUSE_MAX_MS[this.#state]);
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#pauses.delete(end);
        resolve();
      };
      const cancel = this.#clock.after(pause_ms, end);
      this.#pauses.add(end);
    });
  }

  #cutPausesShort(): void {
    for (const end of [...this.#pauses]) end();
  }
}
