import { type Clock, systemClock } from "@ostiary/lib/async";
import { type ApiError, rateLimited } from "@ostiary/lib/domain/errors";
import {
  type AppliedLimit,
  bucketKey,
  bucketPrefix,
  decide,
  limitsOf,
  policyIn,
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
import type { Principal } from "../admission/principal.ts";
import { UNKNOWN_ADDRESS } from "../edge/client-address.ts";
import { failureSubject } from "../edge/ip-address.ts";
import { DecisionCounts, type PolicyDecisions } from "../limits/decision-counts.ts";
import { LimitSetCounter, type QuotaRecord, type SetState } from "../limits/limit-set.ts";
import { ClientGone } from "../upstream/call.ts";

export const limitVariables = {
  RATE_LIMIT_REQUESTS: integer(
    { default: 60, min: 0, max: 1_000_000_000 },
    "The maximum number of requests in a window on routes without their own limit. 0 means no limit.",
  ),
  RATE_LIMIT_WINDOW_SECONDS: integer(
    { default: 60, min: 1, max: 31_536_000 },
    "The window of RATE_LIMIT_REQUESTS in seconds.",
  ),
  RATE_LIMIT_AUTH_FAILURE_REQUESTS: integer(
    { default: 60, min: 0, max: 1_000_000_000 },
    "The maximum number of 401s, and of 404s without a route, for one client address in a window. Addresses of one IPv6 /64 count together. 0 means no limit.",
  ),
  RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS: integer(
    { default: 60, min: 1, max: 31_536_000 },
    "The window of RATE_LIMIT_AUTH_FAILURE_REQUESTS in seconds.",
  ),
};

const limitSchema = Type.Object(limitVariables);
type LimitConfig = Static<typeof limitSchema>;

/** The state of a limit after a request was counted: the values of the X-RateLimit headers. */
export type RateState = RateLimitDecision | SetState;

/** Step 3: counts a request, then decides whether it is admitted (GW-69). */
export interface Limiter {
  /**
   * Counts a request. Returns null for an unlimited route, without a round trip.
   *
   * @throws ApiError 503 if the counter store is down, or if the count of a quota cannot be read
   */
  limit(route: LimitedRoute, caller: Caller): Promise<RateState> | null;
  /** Refunds a failed request to the limits that charge only successful requests. Never rejects. */
  refund(state: RateState): void;
  /**
   * Counts a 401, or a 404 without a route, for a client address. Above the limit, returns the 429 to send
   * instead. Returns null within the limit, and while the counter store is down.
   *
   * @param cause cause of the 401 or 404, for the log
   */
  failed(ip: string, cause?: unknown): Promise<ApiError | null>;
}

export type LimitedRoute = Pick<CompiledRoute, "scope" | "rate_limit" | "bucketPrefix">;

interface Caller {
  readonly ip: string;
  readonly principal: LimitedPrincipal | null;
}

type SubjectIds = Readonly<Record<`${Exclude<Scope, "public">}_id`, string | null>>;
type LimitedPrincipal = SubjectIds & Pick<Principal, "plan">;

export type LimitStore = Pick<CounterStore, "increment" | "charge" | "refund" | "isSpread">;

interface LimiterOptions {
  config: LimitConfig;
  store: LimitStore;
  /** The record of quota charges. Null, the default, if there is no audit service. */
  quotas?: QuotaRecord | null;
  clock?: Pick<Clock, "now">;
  decisions?: DecisionCounts;
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { config, store, quotas = null, clock = systemClock, decisions = new DecisionCounts() } = options;
  const fallback = unlessZero(config.RATE_LIMIT_REQUESTS, config.RATE_LIMIT_WINDOW_SECONDS);
  const failures = unlessZero(
    config.RATE_LIMIT_AUTH_FAILURE_REQUESTS,
    config.RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS,
  );
  const sets = new LimitSetCounter({ store, quotas, clock });
  const count = windowCounter({ store, clock });
  const countSet = setCounter(sets, decisions);
  const failuresPrefix = bucketPrefix({ kind: "denied" });

  return {
    limit(route, caller) {
      const limit = route.rate_limit === "fallback" ? fallback : route.rate_limit;
      if (limit === null) return null;
      const subject = subjectOf(route.scope, caller);
      if ("limits" in limit) {
        const limits = limitsOf(limit, caller.principal?.plan ?? null);
        return limits.length === 0 ? null : countSet(limits, subject);
      }
      const key = bucketKey(route.bucketPrefix, subject, store.isSpread);
      return count(key, limit, decisions.of(route), refuseUncounted);
    },
    refund(state) {
      if (!("refundable" in state) || state.refundable.length === 0) return;
      sets.refund(state.refundable).catch(() => {}); // the store's metrics count the failure
    },
    async failed(ip, cause) {
      if (failures === null) return null;
      const key = bucketKey(failuresPrefix, failureSubject(ip), store.isSpread);
      const state = await count(key, failures, decisions.denied, admitWithoutCount);
      return state === null || state.allowed ? null : rateLimited(state.retry_after_seconds, { cause });
    },
  };
}

/** Counts a request in one window, and calls `otherwise` if the store cannot count. */
function windowCounter({ store, clock }: Required<Pick<LimiterOptions, "store" | "clock">>) {
  return async <Uncounted>(
    key: string,
    limit: RateLimit,
    decided: PolicyDecisions,
    otherwise: (error: unknown) => Uncounted,
  ): Promise<RateLimitDecision | Uncounted> => {
    let counted: WindowCount;
    try {
      counted = await store.increment(key, limit.window_seconds);
    } catch (error) {
      decided.uncounted += 1;
      return otherwise(error);
    }
    const state = decide(counted.count, counted.ttlMs, limit, clock.now());
    if (state.allowed) decided.admitted += 1;
    else decided.refused += 1;
    return state;
  };
}

function setCounter(sets: LimitSetCounter, decisions: DecisionCounts) {
  return async (limits: readonly AppliedLimit[], subject: string): Promise<SetState> => {
    const decided = limits.map((limit) => decisions.ofPolicy(limit.bucketPrefix));
    try {
      const state = await sets.count(limits, subject);
      for (const each of decided) each[state.allowed ? "admitted" : "refused"] += 1;
      return state;
    } catch (error) {
      for (const each of decided) each.uncounted += 1;
      return refuseUncounted(error);
    }
  };
}

/**
 * Returns the subject of the limit: the client's address on a public route, otherwise the id that the scope
 * names.
 *
 * @throws ClientGone if a client without an id has reset its connection, so that its address is unknown
 */
function subjectOf(scope: Scope, caller: Caller): string {
  if (scope !== "public") return caller.principal?.[`${scope}_id`] ?? "";
  // Read the address for public routes only, because the first read in a request costs a system call.
  const { ip } = caller;
  if (ip === UNKNOWN_ADDRESS) throw new ClientGone();
  return ip;
}

/** Returns the 429 for a request that a limit refuses. The 429 names the policy (GW-183). */
export function refusedByLimit(route: LimitedRoute, state: RateState): ApiError {
  const policy = "policy" in state ? state.policy : policyIn(route.bucketPrefix);
  return rateLimited(state.retry_after_seconds, { details: { policy } });
}

const FORBIDDEN = 403;

/**
 * Returns whether a request gets back what its limits charged: after a 5xx, and when it did not reach its service
 * (GW-185). A 403 counts (GW-3). So does a handshake that the service served as a plain request, because every client
 * can send one.
 *
 * @param status the status of the response, or null if the client left before the response
 */
export function isRefunded(
  { reachedService, servedPlain }: { readonly reachedService: boolean; readonly servedPlain: boolean },
  status: number | null,
): boolean {
  if (servedPlain) return false;
  if (status !== null && status >= 500) return true;
  return !reachedService && status !== FORBIDDEN;
}

function unlessZero(requests: number, window_seconds: number): RateLimit | null {
  return requests === 0 ? null : { requests, window_seconds };
}

function refuseUncounted(error: unknown): never {
  throw error instanceof StoreUnavailable ? error.toApiError() : error;
}

function admitWithoutCount(error: unknown): null {
  if (error instanceof StoreUnavailable) return null;
  throw error;
}
