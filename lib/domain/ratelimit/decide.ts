/** The headers of every response on a limited route (GW-71). */
export const RATE_LIMIT_HEADERS = {
  limit: "X-RateLimit-Limit",
  remaining: "X-RateLimit-Remaining",
  reset: "X-RateLimit-Reset",
} as const;

/** The headers that describe all limits of a limit set (GW-184). */
export const LIMIT_SET_HEADERS = { policies: "RateLimit-Policy", limits: "RateLimit" } as const;

/** A maximum number of requests in a fixed window. The first request starts the window. */
export interface RateLimit {
  readonly requests: number;
  readonly window_seconds: number;
}

/** The decision on a request, and the values of its rate-limit headers. */
export interface RateLimitDecision {
  readonly allowed: boolean;
  /** The value of `X-RateLimit-Limit`: the maximum number of requests. */
  readonly limit: number;
  /** The value of `X-RateLimit-Remaining`: the number of requests left after this one. */
  readonly remaining: number;
  /** The value of `X-RateLimit-Reset`: the end of the window in epoch seconds, rounded up. */
  readonly reset: number;
  /** The value of `Retry-After`, at least 1; meaningless for an admitted request. */
  readonly retry_after_seconds: number;
}

/**
 * Decides whether to admit a request that the counter already includes. Request number `limit.requests` of a
 * window is admitted, the next one refused (GW-69).
 *
 * @param count the counter's value, this request included
 * @param ttlMs the time left in the window
 * @param nowMs the wall clock, epoch milliseconds
 */
export function decide(
  count: number,
  ttlMs: number,
  limit: Pick<RateLimit, "requests">,
  nowMs: number,
): RateLimitDecision {
  const leftMs = Math.max(0, ttlMs);
  return {
    allowed: count <= limit.requests,
    limit: limit.requests,
    remaining: Math.max(0, limit.requests - count),
    reset: Math.ceil((nowMs + leftMs) / 1000),
    retry_after_seconds: Math.max(1, Math.ceil(leftMs / 1000)),
  };
}
