/** So many requests in a fixed window that the first of them opens. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** What the headers of the answer say, and whether the request goes on. */
export interface RateLimitDecision {
  readonly allowed: boolean;
  /** `X-RateLimit-Limit`. */
  readonly limit: number;
  /** `X-RateLimit-Remaining`, after this request. */
  readonly remaining: number;
  /** `X-RateLimit-Reset`: epoch seconds of the window's end, rounded up. */
  readonly reset: number;
  /** `Retry-After`, at least 1. Meaningful when refused. */
  readonly retryAfterSeconds: number;
}

/**
 * Decides on a request that the counter has already counted: number `limit.requests` of a window is admitted,
 * the next one refused (contract 4, Rate limits).
 *
 * @param count the counter's value, this request included
 * @param ttlMs what is left of the window
 * @param nowMs the wall clock, epoch milliseconds
 */
export function decide(count: number, ttlMs: number, limit: RateLimit, nowMs: number): RateLimitDecision {
  const leftMs = Math.max(0, ttlMs);
  return {
    allowed: count <= limit.requests,
    limit: limit.requests,
    remaining: Math.max(0, limit.requests - count),
    reset: Math.ceil((nowMs + leftMs) / 1000),
    retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
  };
}
