import type { Clock } from "@ostiary/lib/async";
import {
  type AppliedLimit,
  bucketKey,
  decide,
  periodAt,
  type RateLimitDecision,
} from "@ostiary/lib/domain/ratelimit";
import type { Charge, CounterStore, Refund, WindowCount } from "@ostiary/lib/runtime/stores/counter-store";

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
}

/** A limit with its bucket at one moment. */
interface Counting {
  readonly limit: AppliedLimit;
  readonly charge: Charge;
  /** The length of the window in seconds. */
  readonly seconds: number;
  /** The time left in a calendar period, or null for a window that the first request opens. */
  readonly period_left_ms: number | null;
}

/** Counts requests against several limits in one round trip (GW-180, GW-181). */
export class LimitSetCounter {
  readonly #store: Pick<CounterStore, "charge" | "refund" | "isSpread">;
  readonly #clock: Pick<Clock, "now" | "elapsed_ms">;

  constructor(
    store: Pick<CounterStore, "charge" | "refund" | "isSpread">,
    clock: Pick<Clock, "now" | "elapsed_ms">,
  ) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Counts a request of `subject`. Rejects with `StoreUnavailable` as the store does. */
  async count(limits: readonly AppliedLimit[], subject: string): Promise<SetState> {
    const now = this.#clock.now();
    const countings = limits.map((limit) => this.#counting(limit, subject, now));
    const counts = await this.#store.charge(countings.map(({ charge }) => charge));
    return this.#stateOf(countings, counts, now);
  }

  /** Gives counts back. Rejects as the store does. */
  async refund(charged: readonly Charged[]): Promise<void> {
    const now = this.#clock.elapsed_ms();
    const refunds: Refund[] = charged.map(({ bucket, ttl_ms, at_elapsed_ms }) => ({
      bucket,
      // Both clocks round, so the same window can show a millisecond more.
      ttl_ms: Math.ceil(ttl_ms - (now - at_elapsed_ms)) + 1,
    }));
    const open = refunds.filter(({ ttl_ms }) => ttl_ms > 1);
    if (open.length > 0) await this.#store.refund(open);
  }

  #counting(limit: AppliedLimit, subject: string, now: number): Counting {
    const { bucketPrefix, requests, window } = limit;
    const keyOf = (prefix: string) => bucketKey(prefix, subject, this.#store.isSpread);
    if (typeof window === "number") {
      const charge = { bucket: keyOf(bucketPrefix), window_ms: window * 1000, requests };
      return { limit, charge, seconds: window, period_left_ms: null };
    }
    const { id, starts_ms, ends_ms } = periodAt(window, now);
    const window_ms = ends_ms - now + PERIOD_SLACK_MS;
    const charge = { bucket: keyOf(`${bucketPrefix}${id}:`), window_ms, requests };
    return { limit, charge, seconds: (ends_ms - starts_ms) / 1000, period_left_ms: ends_ms - now };
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
    return countings.flatMap(({ limit, charge }, index) =>
      limit.refunds ? [{ bucket: charge.bucket, ttl_ms: counts[index]?.ttl_ms ?? 0, at_elapsed_ms }] : [],
    );
  }
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
