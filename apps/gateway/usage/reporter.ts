import { type Clock, Loop, pause, systemClock } from "@ostiary/lib/async";
import { USAGE_COUNTS_MAX, USAGE_QUOTAS_MAX, type UsageReport } from "@ostiary/lib/contracts/usage-contract";
import { reasonOf } from "@ostiary/lib/domain/errors";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { AuditClient } from "../audit/audit-client.ts";
import type { UsageCounter } from "./counter.ts";
import type { QuotaCharges } from "./quota-charges.ts";

type ReportResult = "ok" | "failed" | "refused";

interface UsageReporterOptions {
  readonly counter: UsageCounter;
  readonly charges: QuotaCharges;
  readonly client: Pick<AuditClient, "putUsage" | "close">;
  readonly instance: string;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly clock?: Clock;
}

/** A report that is resent unchanged until the audit service accepts or refuses the report. */
interface NumberedReport {
  readonly number: number;
  readonly report: UsageReport;
}

const INTERVAL_MS = 10_000;
const TIMEOUT_MS = 5_000;
const RETRY_MS = 1_000;
const CLOSING_RETRY_MS = 250;
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Reports usage to the audit service every 10 seconds, and once more when the gateway stops (GW-188). At most
 * one report is in flight. A report keeps its number and content until the audit service accepts or refuses
 * it, so nothing counts twice. Counts of later requests wait, and their number is bounded.
 */
export class UsageReporter {
  readonly #options: UsageReporterOptions;
  readonly #clock: Clock;
  readonly #loop: Loop;
  readonly #results: Record<ReportResult, number> = { ok: 0, failed: 0, refused: 0 };
  readonly results: Readonly<Record<ReportResult, number>> = this.#results;
  #number = 0;
  #underway: NumberedReport | null = null;
  #failing = false;

  constructor(options: UsageReporterOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#loop = new Loop({
      task: (stopping) => this.#reportAll(stopping),
      pauseMs: INTERVAL_MS,
      retryMs: RETRY_MS,
      onFailure: (error) => this.#noteFailure(error),
      clock: this.#clock,
    });
  }

  start(): void {
    this.#loop.start(INTERVAL_MS);
  }

  /**
   * Tries for at most `deadlineMs` to report the remaining counts. Must be called after the last request has
   * ended.
   */
  async close(deadlineMs: number): Promise<void> {
    const endMs = this.#clock.elapsedMs() + deadlineMs;
    await this.#loop.stop();
    while (!(await this.#reportLast(endMs))) await pause(this.#clock, CLOSING_RETRY_MS);
    this.#options.client.close();
  }

  get #isWaiting(): boolean {
    const { counter, charges } = this.#options;
    return counter.waiting > 0 || charges.waiting > 0;
  }

  /** Sends all counts. Rejects if the audit service neither accepts nor refuses a report. */
  async #reportAll(stopping: () => boolean): Promise<void> {
    do {
      this.#underway ??= this.#next(false);
      if (this.#underway === null) return;
      await this.#send(this.#underway);
    } while (this.#isWaiting && !stopping());
  }

  /** Tries to report the remaining counts. Returns false if the caller must try again. */
  async #reportLast(endMs: number): Promise<boolean> {
    try {
      for (let is_last = false; !is_last; ) {
        this.#underway ??= this.#next(true);
        if (this.#underway === null) return true;
        is_last = this.#underway.report.is_last;
        await this.#send(this.#underway, endMs);
      }
      return true;
    } catch (error) {
      this.#results.failed += 1;
      if (this.#clock.elapsedMs() + CLOSING_RETRY_MS < endMs) return false;
      this.#giveUp(error);
      return true;
    }
  }

  #giveUp(error: unknown): void {
    const { counter, charges, log } = this.#options;
    const { counts = [], quotas = [] } = this.#underway?.report ?? {};
    const lost = this.#lose({
      counts: [...counts, ...counter.take(Number.POSITIVE_INFINITY)],
      quotas: [...quotas, ...charges.take(Number.POSITIVE_INFINITY)],
    });
    this.#underway = null;
    if (lost.requests + lost.charges === 0) return;
    log.error({ ...lost, reason: reasonOf(error) }, "the gateway lost usage: it is stopping");
  }

  /** Counts requests as uncounted and charges as lost (GW-189 to GW-191). Returns their numbers. */
  #lose({ counts, quotas = [] }: Pick<UsageReport, "counts" | "quotas">) {
    const requests = counts.reduce((sum, count) => sum + count.requests, 0);
    this.#options.counter.lose(requests);
    return { requests, charges: this.#options.charges.lose(quotas) };
  }

  /** Returns the next report, or null while this gateway has counted nothing yet. */
  #next(stopping: boolean): NumberedReport | null {
    const { counter, charges } = this.#options;
    if (this.#number === 0 && !this.#isWaiting && counter.uncounted === 0) return null;
    const reported_until = new Date(this.#clock.now()).toISOString();
    const counts = counter.take(USAGE_COUNTS_MAX);
    const uncounted = counter.takeUncounted();
    const quotas = charges.take(USAGE_QUOTAS_MAX);
    const is_last = stopping && !this.#isWaiting;
    this.#number += 1;
    return {
      number: this.#number,
      report: { reported_until, is_last, uncounted, counts, ...(quotas.length > 0 && { quotas }) },
    };
  }

  async #send({ number, report }: NumberedReport, endMs = Number.POSITIVE_INFINITY): Promise<void> {
    const { client, instance, log } = this.#options;
    const timeoutMs = Math.min(TIMEOUT_MS, Math.max(1, endMs - this.#clock.elapsedMs()));
    const status = await client.putUsage(instance, number, report, timeoutMs);
    if (REFUSALS.has(status)) {
      this.#results.refused += 1;
      log.error({ number, status, ...this.#lose(report) }, "the audit service refused a usage report");
    } else if (status !== 200 && status !== 201) {
      throw new Error(`The audit service responded with ${status}.`);
    } else {
      this.#results.ok += 1;
    }
    this.#underway = null;
    if (this.#failing) log.info({}, "the audit service accepts usage reports again");
    this.#failing = false;
  }

  #noteFailure(error: unknown): void {
    this.#results.failed += 1;
    if (this.#failing) return;
    this.#failing = true;
    this.#options.log.warn({ reason: reasonOf(error) }, "the audit service is not accepting usage reports");
  }
}
