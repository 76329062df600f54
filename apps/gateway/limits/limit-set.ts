import type { Clock } from "@ostiary/lib/async";
import {
  type AppliedLimit,
  bucketKey,
  type CalendarPeriod,
  decide,
  periodAt,
  type RateLimitDecision,
} from "@ostiary/lib/domain/ratelimit";
import type { Charge, ChargedWindow, CounterStore, Refund } from "@ostiary/lib/runtime/stores/counter-store";
import { type DescribedLimits, limitsText, policiesText, tightestOf } from "./limit-headers.ts";

/** How long a quota's count is kept after its period, so that a gateway with a slow clock cannot restart the period. */
const PERIOD_SLACK_MS = 86_400_000;

/**
 * The state of several limits after a request: the decision of the tightest limit, and the header values that
 * describe all limits.
 */
export interface SetState extends RateLimitDecision {
  /** The name of the tightest policy, or null for an inline limit. */
  readonly policy: string | null;
  readonly described: DescribedLimits;
  /** The counts to refund if the request ends in a 5xx, or does not reach its service. */
  readonly refundable: readonly Charged[];
}

/** A quota of one subject in one calendar period, with its bucket in the counter store. */
export interface QuotaBucket {
  readonly bucket: string;
  /** The prefix of the limit's buckets, including the colon at its end. */
  readonly bucketPrefix: string;
  /** The calendar day or month, such as `2026-11-23` or `2026-11`. */
  readonly period: string;
  readonly subject: string;
  readonly requests: number;
}

/** The record of charges to quotas, for the counts that a counter store has lost (GW-191, GW-192). */
export interface QuotaRecord {
  /** Adds requests that were charged to a quota. A negative number is a refund. */
  charged(quota: QuotaBucket, requests: number): void;
  /** Returns the recorded count of a quota. Rejects with ApiError 503 if the count cannot be read. */
  known(quota: QuotaBucket): Promise<number>;
}

interface Charged extends Refund {
  readonly quota: QuotaBucket | null;
}

/** The parts of a limit that stay the same until its period ends. */
interface PreparedLimit {
  readonly limit: AppliedLimit;
  readonly name: string;
  /** The part of the counter's key before the subject. */
  readonly prefix: string;
  readonly seconds: number;
  /** The calendar period of a quota, or null for a window. */
  readonly period: CalendarPeriod | null;
}

/** A prepared list of limits, valid until a calendar period of a limit begins or ends. */
interface PreparedLimits {
  readonly limits: readonly PreparedLimit[];
  readonly policies: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Counting {
  readonly prepared: PreparedLimit;
  readonly charge: Charge;
  /** The time left in a calendar period, or null for a window that the first request opens. */
  readonly periodLeftMs: number | null;
  readonly quota: QuotaBucket | null;
}

interface LimitSetOptions {
  readonly store: Pick<CounterStore, "charge" | "refund" | "isSpread">;
  readonly quotas: QuotaRecord | null;
  readonly clock: Pick<Clock, "now">;
}

/** Counts requests against several limits in one round trip (GW-180, GW-181). */
export class LimitSetCounter {
  readonly #store: LimitSetOptions["store"];
  readonly #quotas: QuotaRecord | null;
  readonly #clock: LimitSetOptions["clock"];
  /** The prepared form of each list of limits, which is freed together with the list and its route. */
  readonly #prepared = new WeakMap<readonly AppliedLimit[], PreparedLimits>();

  constructor({ store, quotas, clock }: LimitSetOptions) {
    this.#store = store;
    this.#quotas = quotas;
    this.#clock = clock;
  }

  /**
   * Counts a request of `subject`.
   *
   * @throws StoreUnavailable if the store fails
   * @throws ApiError 503 if the store lacks the count of a quota and the audit service is unavailable
   */
  async count(limits: readonly AppliedLimit[], subject: string): Promise<SetState> {
    const now = this.#clock.now();
    const prepared = this.#preparedAt(limits, now);
    const countings = prepared.limits.map((limit) => this.#counting(limit, subject, now));
    const charged = await this.#store.charge(countings.map(({ charge }) => charge));
    const counts = charged ?? (await this.#chargeFromKnown(countings));
    const state = this.#stateOf(prepared.policies, countings, counts, now);
    if (state.allowed && this.#quotas !== null) noteCharges(this.#quotas, countings);
    return state;
  }

  /** Refunds counts, each to the window that was charged. Rejects if the store fails. */
  async refund(charged: readonly Charged[]): Promise<void> {
    const refunded = await this.#store.refund(charged);
    charged.forEach(({ quota }, index) => {
      if (quota !== null && refunded[index]) this.#quotas?.charged(quota, -1);
    });
  }

  /**
   * Repeats a charge that the store rejected because the store lacks the counts of some quotas. The repeated
   * charge contains the counts of the quota record.
   */
  async #chargeFromKnown(countings: readonly Counting[]): Promise<ChargedWindow[]> {
    const charges = countings.map(async ({ charge, quota }) =>
      quota === null ? charge : { ...charge, start: (await this.#quotas?.known(quota)) ?? 0 },
    );
    const counts = await this.#store.charge(await Promise.all(charges));
    if (counts === null)
      throw new Error(
        "The counter store reported missing start counts, although the call contained all of them.",
      );
    return counts;
  }

  #preparedAt(limits: readonly AppliedLimit[], now: number): PreparedLimits {
    const known = this.#prepared.get(limits);
    if (known !== undefined && now >= known.fromMs && now < known.untilMs) return known;
    const prepared = prepare(limits, now);
    this.#prepared.set(limits, prepared);
    return prepared;
  }

  #counting(prepared: PreparedLimit, subject: string, now: number): Counting {
    const { limit, prefix, seconds, period } = prepared;
    const { bucketPrefix, requests } = limit;
    const bucket = bucketKey(prefix, subject, this.#store.isSpread);
    if (period === null) {
      const charge = { bucket, windowMs: seconds * 1000, isPeriod: false, requests, start: 0 };
      return { prepared, charge, periodLeftMs: null, quota: null };
    }
    const { id, endsMs } = period;
    const windowMs = endsMs - now + PERIOD_SLACK_MS;
    const charge = { bucket, windowMs, isPeriod: true, requests, start: this.#quotas === null ? 0 : null };
    const quota = { bucket, bucketPrefix, period: id, subject, requests };
    return { prepared, charge, periodLeftMs: endsMs - now, quota };
  }

  #stateOf(
    policies: string,
    countings: readonly Counting[],
    counts: readonly ChargedWindow[],
    now: number,
  ): SetState {
    const decisions = countings.map(({ prepared: { limit, name }, periodLeftMs }, index) => {
      const { count = 0, ttlMs = 0 } = counts[index] ?? {};
      return { limit, name, decision: decide(count, periodLeftMs ?? ttlMs, limit, now) };
    });
    const tightest = tightestOf(decisions);
    const allowed = decisions.every(({ decision }) => decision.allowed);
    return {
      ...tightest.decision,
      allowed,
      policy: tightest.limit.policy,
      described: { policies, limits: limitsText(decisions) },
      refundable: allowed ? refundableOf(countings, counts) : [],
    };
  }
}

function refundableOf(countings: readonly Counting[], counts: readonly ChargedWindow[]): Charged[] {
  return countings.flatMap(({ prepared, charge: { bucket }, quota }, index) =>
    prepared.limit.refunds ? [{ bucket, endsMs: counts[index]?.endsMs ?? 0, quota }] : [],
  );
}

function noteCharges(quotas: QuotaRecord, countings: readonly Counting[]): void {
  for (const { quota } of countings) if (quota !== null) quotas.charged(quota, 1);
}

function prepare(limits: readonly AppliedLimit[], now: number): PreparedLimits {
  const prepared = limits.map((limit) => prepareLimit(limit, now));
  const periods = prepared.flatMap(({ period }) => (period === null ? [] : [period]));
  return {
    limits: prepared,
    policies: policiesText(prepared),
    fromMs: Math.max(...periods.map(({ startsMs }) => startsMs), Number.NEGATIVE_INFINITY),
    untilMs: Math.min(...periods.map(({ endsMs }) => endsMs), Number.POSITIVE_INFINITY),
  };
}

function prepareLimit(limit: AppliedLimit, now: number): PreparedLimit {
  const { policy, bucketPrefix, window } = limit;
  if (typeof window === "number") {
    return { limit, name: policy ?? `${window}s`, prefix: bucketPrefix, seconds: window, period: null };
  }
  const period = periodAt(window, now);
  const seconds = (period.endsMs - period.startsMs) / 1000;
  return { limit, name: policy ?? window, prefix: `${bucketPrefix}${period.id}:`, seconds, period };
}
