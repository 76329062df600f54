import type { Clock } from "@ostiary/lib/async";
import {
  type AppliedLimit,
  bucketKey,
  decide,
  periodAt,
  type RateLimitDecision,
} from "@ostiary/lib/domain/ratelimit";
import type { Charge, CounterStore, WindowCount } from "@ostiary/lib/runtime/stores/counter-store";
import type { QuotaBucket, QuotaRecord } from "./quota-record.ts";

/**
 * How much longer than its period the count of a quota is kept, so that no replica whose clock is behind opens
 * the period again.
 */
const PERIOD_SLACK_MS = 86_400_000;

/** The state of several limits after a request: the one with the least left, and all of them in headers. */
export interface SetState extends RateLimitDecision {
  /** The name of the policy with the least left, or null for an inline limit. */
  readonly policy: string | null;
  /** `RateLimit-Policy` and `RateLimit` (GW-184). */
  readonly described: { readonly policies: string; readonly limits: string };
  /** The counts to give back if the request ends in a 5xx or without an answer. */
  readonly refundable: readonly Charged[];
}

/** A count that can be given back. */
export interface Charged {
  readonly bucket: string;
  /** The time left in the window when it was counted, and when that was on the monotonic clock. */
  readonly ttl_ms: number;
  readonly at_elapsed_ms: number;
  readonly quota: QuotaBucket | null;
}

/** A limit with its bucket at one moment. */
interface Counting {
  readonly limit: AppliedLimit;
  readonly charge: Charge;
  /** The length of the window in seconds. */
  readonly seconds: number;
  /** The time left in a calendar period, or null for a window that the first request opens. */
  readonly period_left_ms: number | null;
  /** The quota of a calendar period, or null for a window. */
  readonly quota: QuotaBucket | null;
}

export interface LimitSetOptions {
  readonly store: Pick<CounterStore, "charge" | "refund" | "isSpread">;
  /** Where charges of quotas are written down; null without an audit service. */
  readonly quotas: QuotaRecord | null;
  readonly clock: Pick<Clock, "now" | "elapsed_ms">;
}

/** Counts requests against several limits in one round trip (GW-180, GW-181). */
export class LimitSetCounter {
  readonly #store: LimitSetOptions["store"];
  readonly #quotas: QuotaRecord | null;
  readonly #clock: LimitSetOptions["clock"];

  constructor({ store, quotas, clock }: LimitSetOptions) {
    this.#store = store;
    this.#quotas = quotas;
    this.#clock = clock;
  }

  /**
   * Counts a request of `subject`. Rejects with `StoreUnavailable` as the store does, and with ApiError 503 when
   * neither the store nor the audit service knows the count of a quota.
   */
  async count(limits: readonly AppliedLimit[], subject: string): Promise<SetState> {
    const now = this.#clock.now();
    const countings = limits.map((limit) => this.#counting(limit, subject, now));
    const charged = await this.#store.charge(countings.map(({ charge }) => charge));
    const counts = charged ?? (await this.#chargeFromKnown(countings));
    const state = this.#stateOf(countings, counts, now);
    if (state.allowed && this.#quotas !== null) noteCharges(this.#quotas, countings);
    return state;
  }

  /** Gives counts back. Rejects as the store does. */
  async refund(charged: readonly Charged[]): Promise<void> {
    const now = this.#clock.elapsed_ms();
    const refunds = charged.map(({ bucket, ttl_ms, at_elapsed_ms, quota }) => ({
      bucket,
      // Both clocks round, so the same window can show a millisecond more.
      ttl_ms: Math.ceil(ttl_ms - (now - at_elapsed_ms)) + 1,
      quota,
    }));
    const open = refunds.filter(({ ttl_ms }) => ttl_ms > 1);
    if (open.length === 0) return;
    await this.#store.refund(open);
    for (const { quota } of open) if (quota !== null) this.#quotas?.charged(quota, -1);
  }

  /** Counts a request whose quotas the store does not have, from the counts that are written down. */
  async #chargeFromKnown(countings: readonly Counting[]): Promise<WindowCount[]> {
    const charges = countings.map(async ({ charge, quota }) =>
      quota === null ? charge : { ...charge, start: (await this.#quotas?.known(quota)) ?? 0 },
    );
    const counts = await this.#store.charge(await Promise.all(charges));
    if (counts === null) throw new Error("The counter store asked for a start that it was given.");
    return counts;
  }

  #counting(limit: AppliedLimit, subject: string, now: number): Counting {
    const { bucketPrefix, requests, window } = limit;
    const keyOf = (prefix: string) => bucketKey(prefix, subject, this.#store.isSpread);
    if (typeof window === "number") {
      const charge = { bucket: keyOf(bucketPrefix), window_ms: window * 1000, requests, start: 0 };
      return { limit, charge, seconds: window, period_left_ms: null, quota: null };
    }
    const { id, starts_ms, ends_ms } = periodAt(window, now);
    const window_ms = ends_ms - now + PERIOD_SLACK_MS;
    const bucket = keyOf(`${bucketPrefix}${id}:`);
    const charge = { bucket, window_ms, requests, start: this.#quotas === null ? 0 : null };
    const quota = { bucket, bucketPrefix, period: id, subject, requests };
    return { limit, charge, seconds: (ends_ms - starts_ms) / 1000, period_left_ms: ends_ms - now, quota };
  }

  #stateOf(countings: readonly Counting[], counts: readonly WindowCount[], now: number): SetState {
    const decisions = countings.map(({ limit, period_left_ms }, index) => {
      const { count = 0, ttl_ms = 0 } = counts[index] ?? {};
      return { limit, decision: decide(count, period_left_ms ?? ttl_ms, limit, now) };
    });
    const tightest = decisions.reduce((least, each) =>
      isTighter(each.decision, least.decision) ? each : least,
    );
    const allowed = decisions.every(({ decision }) => decision.allowed);
    return {
      ...tightest.decision,
      allowed,
      policy: tightest.limit.policy,
      described: describe(
        countings,
        decisions.map(({ decision }) => decision),
      ),
      refundable: allowed ? this.#refundable(countings, counts) : [],
    };
  }

  #refundable(countings: readonly Counting[], counts: readonly WindowCount[]): Charged[] {
    const at_elapsed_ms = this.#clock.elapsed_ms();
    return countings.flatMap(({ limit, charge: { bucket }, quota }, index) =>
      limit.refunds ? [{ bucket, ttl_ms: counts[index]?.ttl_ms ?? 0, at_elapsed_ms, quota }] : [],
    );
  }
}

/** Writes down that a request was charged to its quotas. */
function noteCharges(quotas: QuotaRecord, countings: readonly Counting[]): void {
  for (const { quota } of countings) if (quota !== null) quotas.charged(quota, 1);
}

/** Returns whether one limit has less left than the other, or as much with a later reset. */
function isTighter(one: RateLimitDecision, other: RateLimitDecision): boolean {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.reset > other.reset);
}

function describe(
  countings: readonly Counting[],
  decisions: readonly RateLimitDecision[],
): SetState["described"] {
  const nameOf = ({ limit }: Counting) =>
    limit.policy ?? (typeof limit.window === "number" ? `${limit.window}s` : limit.window);
  const states = decisions.map(({ remaining, retryAfterSeconds }, index) => {
    const counting = countings[index];
    return counting && `"${nameOf(counting)}";r=${remaining};t=${retryAfterSeconds}`;
  });
  return {
    policies: countings
      .map((each) => `"${nameOf(each)}";q=${each.limit.requests};w=${each.seconds}`)
      .join(", "),
    limits: states.join(", "),
  };
}
