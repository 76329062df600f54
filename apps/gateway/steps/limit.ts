import { type Clock, systemClock } from "@ostiary/lib/async";
import { ApiError } from "@ostiary/lib/domain/errors";
import {
  bucketKey,
  bucketPrefix,
  decide,
  type RateLimit,
  type RateLimitDecision,
} from "@ostiary/lib/domain/ratelimit";
import type { CompiledRoute, Scope } from "@ostiary/lib/domain/routes";
import { integer } from "@ostiary/lib/runtime/config";
import {
  type CounterStore,
  StoreUnavailable,
  type WindowCount,
} from "@ostiary/lib/runtime/stores/counter-store";
import { type Static, Type } from "@sinclair/typebox";
import { LimitDecisions, type PolicyDecisions } from "./limit-decisions.ts";

/** Variables of rate limiting (Gateway specification, Environment). */
export const limitVariables = {
  RATE_LIMIT_REQUESTS: integer(60, 0, 1_000_000_000, "Fallback limit of routes without one; 0 is unlimited."),
  RATE_LIMIT_WINDOW_SECONDS: integer(60, 1, 31_536_000, "Seconds of its window."),
  RATE_LIMIT_AUTH_FAILURE_REQUESTS: integer(
    60,
    0,
    1_000_000_000,
    "How many 401s and unmatched 404s one address may cause in a window; 0 is unlimited.",
  ),
  RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS: integer(60, 1, 31_536_000, "Seconds of its window."),
};

const limitSchema = Type.Object(limitVariables);
export type LimitConfig = Static<typeof limitSchema>;

/** A limited request's bucket after the request was counted: what the X-RateLimit headers say. */
export type RateState = RateLimitDecision;

/** Step 3 of a request: count, then decide (Gateway specification, Rate limiting; contract 4, Rate limits). */
export interface Limiter {
  /**
   * Counts a request; null where the route is unlimited, which costs no round trip. Rejects with ApiError 503
   * when the counter store is down.
   */
  limit(route: LimitedRoute, caller: Caller): Promise<RateState> | null;
  /**
   * Counts a 401 or an unmatched 404 of a client address: the 429 to answer instead, or null. Lets through
   * while the counter store is down.
   */
  failed(ip: string): Promise<ApiError | null>;
}

/** What limiting needs to know of a route. */
export type LimitedRoute = Pick<CompiledRoute, "scope" | "rateLimit" | "bucketPrefix">;

/** What limiting needs to know of who calls. */
export interface Caller {
  /** The client's address. */
  readonly ip: string;
  /** null on a public route. */
  readonly principal: SubjectIds | null;
}

type SubjectIds = Readonly<Record<`${Exclude<Scope, "public">}_id`, string | null>>;

export interface LimiterOptions {
  config: LimitConfig;
  store: Pick<CounterStore, "increment">;
  clock?: Pick<Clock, "now">;
  /** Where decisions are counted. */
  decisions?: LimitDecisions;
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { config, store, clock = systemClock, decisions = new LimitDecisions() } = options;
  const fallback = unlessZero(config.RATE_LIMIT_REQUESTS, config.RATE_LIMIT_WINDOW_SECONDS);
  const failures = unlessZero(
    config.RATE_LIMIT_AUTH_FAILURE_REQUESTS,
    config.RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS,
  );
  const failuresPrefix = bucketPrefix({ kind: "denied" });

  const count = async <Uncounted>(
    key: string,
    limit: RateLimit,
    decided: PolicyDecisions,
    otherwise: (error: unknown) => Uncounted,
  ) => {
    let counted: WindowCount;
    try {
      counted = await store.increment(key, limit.windowSeconds);
    } catch (error) {
      decided.uncounted += 1;
      return otherwise(error);
    }
    const state = decide(counted.count, counted.ttl_ms, limit, clock.now());
    if (state.allowed) decided.admitted += 1;
    else decided.refused += 1;
    return state;
  };

  return {
    limit(route, caller) {
      const limit = route.rateLimit === "fallback" ? fallback : route.rateLimit;
      if (limit === null) return null;
      const key = bucketKey(route.bucketPrefix, subjectOf(route.scope, caller));
      return count(key, limit, decisions.of(route), refuseUncounted);
    },
    async failed(ip) {
      if (failures === null) return null;
      const key = bucketKey(failuresPrefix, ip);
      const state = await count(key, failures, decisions.denied, letUncountedThrough);
      return state === null || state.allowed ? null : rateLimited(state.retryAfterSeconds);
    },
  };
}

/** Whose limit counts: the client's address on a public route, else the owner that the scope names. */
function subjectOf(scope: Scope, caller: Caller): string {
  // the runtime asks the system for an address, so only where it is needed
  return scope === "public" ? caller.ip : (caller.principal?.[`${scope}_id`] ?? "");
}

/** The 429 of a refused request. */
export function rateLimited(retryAfterSeconds: number): ApiError {
  return new ApiError("RATE_LIMITED", {
    details: { retry_after_seconds: retryAfterSeconds },
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}

/** 0 requests is no limit at all. */
function unlessZero(requests: number, windowSeconds: number): RateLimit | null {
  return requests === 0 ? null : { requests, windowSeconds };
}

function refuseUncounted(error: unknown): never {
  throw error instanceof StoreUnavailable ? error.toApiError() : error;
}

function letUncountedThrough(error: unknown): null {
  if (error instanceof StoreUnavailable) return null;
  throw error;
}
