import {
  type AppliedLimit,
  LIMIT_SET_HEADERS,
  RATE_LIMIT_HEADERS,
  type RateLimitDecision,
} from "@ostiary/lib/domain/ratelimit";

/** The values of the headers `RateLimit-Policy` and `RateLimit` (GW-184). */
export interface DescribedLimits {
  readonly policies: string;
  readonly limits: string;
}

/** Sets the headers that tell the client how many requests are left (GW-71, GW-184). */
export function setRateHeaders(
  headers: Headers,
  rate: RateLimitDecision & { readonly described?: DescribedLimits },
): void {
  headers.set(RATE_LIMIT_HEADERS.limit, String(rate.limit));
  headers.set(RATE_LIMIT_HEADERS.remaining, String(rate.remaining));
  headers.set(RATE_LIMIT_HEADERS.reset, String(rate.reset));
  if (rate.described === undefined) return;
  headers.set(LIMIT_SET_HEADERS.policies, rate.described.policies);
  headers.set(LIMIT_SET_HEADERS.limits, rate.described.limits);
}

interface LimitDecision {
  readonly limit: AppliedLimit;
  readonly name: string;
  readonly decision: RateLimitDecision;
}

/**
 * Returns the decision that the X-RateLimit headers describe: the one with the fewest requests left, and among
 * equals the one with the latest reset (GW-181).
 */
export function tightestOf(decisions: readonly LimitDecision[]): LimitDecision {
  return decisions.reduce((least, each) => (isTighter(each.decision, least.decision) ? each : least));
}

function isTighter(one: RateLimitDecision, other: RateLimitDecision): boolean {
  return one.remaining < other.remaining || (one.remaining === other.remaining && one.reset > other.reset);
}

/** Returns the value of the header `RateLimit`: what is left of each limit (GW-184). */
export function limitsText(decisions: readonly LimitDecision[]): string {
  return decisions
    .map(({ name, decision }) => `"${name}";r=${decision.remaining};t=${decision.retry_after_seconds}`)
    .join(", ");
}

/** Returns the value of the header `RateLimit-Policy`: the requests and the seconds of each limit (GW-184). */
export function policiesText(
  limits: readonly { readonly name: string; readonly limit: AppliedLimit; readonly seconds: number }[],
): string {
  return limits.map(({ name, limit, seconds }) => `"${name}";q=${limit.requests};w=${seconds}`).join(", ");
}
