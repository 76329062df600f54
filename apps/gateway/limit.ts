import { whole } from "@ostiary/lib/config";
import { ApiError } from "@ostiary/lib/errors";
import type { CompiledRoute } from "@ostiary/lib/routes";
import { type Static, Type } from "@sinclair/typebox";

/** Variables of rate limiting (Gateway specification, Environment). */
export const limitVariables = {
  RATE_LIMIT_REQUESTS: whole(60, 0, 1_000_000_000, "Fallback limit of routes without one; 0 is unlimited."),
  RATE_LIMIT_WINDOW_SECONDS: whole(60, 1, 31_536_000, "Window of the fallback limit."),
  RATE_LIMIT_AUTH_FAILURE_REQUESTS: whole(
    60,
    0,
    1_000_000_000,
    "How many 401s and unmatched 404s one address may cause in a window; 0 is unlimited.",
  ),
  RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS: whole(60, 1, 31_536_000, "Window of the failed-auth limiter."),
};

const limitSchema = Type.Object(limitVariables);
export type LimitConfig = Static<typeof limitSchema>;

/** A limited request's bucket after the request was counted: what the X-RateLimit headers say. */
export interface RateState {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds of the window's end. */
  readonly reset: number;
  /** Seconds, at least 1; for a refused request. */
  readonly retry_after: number;
}

/** Step 3 of a request: count, then decide (Gateway specification, Rate limiting; contract 4, Rate limits). */
export interface Limiter {
  /**
   * Counts a request of `subject` (the client address on public routes, else the owner's id); null where the
   * route is unlimited, which costs no round trip. Rejects with ApiError 503 when the counter store is down.
   */
  limit(route: CompiledRoute, subject: string): Promise<RateState> | null;
  /**
   * Counts a 401 or an unmatched 404 of a client address: the 429 to answer instead, or null. Lets through
   * while the counter store is down.
   */
  failed(ip: string): Promise<ApiError | null>;
}

/** The 429 of a refused request. */
export function rateLimited(retryAfterSeconds: number): ApiError {
  return new ApiError("RATE_LIMITED", {
    details: { retry_after_seconds: retryAfterSeconds },
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}
