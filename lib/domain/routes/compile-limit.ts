/** Compiles the limit of one method of a route. */
import { type AppliedLimit, bucketPrefix, type LimitSet, type RateLimit } from "../ratelimit/index.ts";
import { flatString, intern } from "./compact.ts";
import { numbersFor } from "./limit-numbers.ts";
import type {
  InlineRateLimit,
  Method,
  RateLimitPolicy,
  StoredRoute,
  StoredServiceConfig,
} from "./service-schema.ts";

export interface CompiledLimit {
  /**
   * The same limit for every caller, or a set of limits. Null means unlimited; `fallback` means the gateway's
   * default limit.
   */
  readonly rate_limit: RateLimit | LimitSet | "fallback" | null;
  /** The part of the counter's key before the subject. A {@link LimitSet} has its own prefixes instead. */
  readonly bucketPrefix: string;
}

/** The compiled limits that routes of all services share, keyed by the text from which they were compiled. */
export interface SharedLimits {
  readonly windows: Map<string, RateLimit>;
  readonly sets: Map<string, LimitSet>;
}

/** A configured limit of a route, with the name of its policy and the prefix of its bucket. */
interface NamedLimit {
  readonly policy: string | null;
  readonly limit: InlineRateLimit | RateLimitPolicy;
  readonly bucketPrefix: string;
}

/** Compiles the limit of one method of the stored route `row`. Equal limits are stored once, in `shared`. */
export function compileLimit(
  service: string,
  config: StoredServiceConfig,
  row: StoredRoute,
  method: Method,
  shared: SharedLimits,
): CompiledLimit {
  const { rate_limit, path } = row;
  const inline = flatString(bucketPrefix({ kind: "route", method, path }));
  if (rate_limit === undefined) return { rate_limit: "fallback", bucketPrefix: inline };
  if (rate_limit === false) return { rate_limit: null, bucketPrefix: inline };
  if (Array.isArray(rate_limit)) {
    const limits = rate_limit.map((each) => namedLimit(service, config, each, inline));
    return { rate_limit: limitSet(limits.map(apart), shared), bucketPrefix: inline };
  }
  const named = namedLimit(service, config, rate_limit, inline);
  const { requests, window_seconds, plans, charge } = named.limit;
  if (window_seconds === undefined || plans !== undefined || charge !== undefined) {
    return { rate_limit: limitSet([named], shared), bucketPrefix: named.bucketPrefix };
  }
  const limit = intern(shared.windows, `${requests}/${window_seconds}`, () => ({ requests, window_seconds }));
  return { rate_limit: limit, bucketPrefix: named.bucketPrefix };
}

function namedLimit(
  service: string,
  { rate_limits }: StoredServiceConfig,
  rate_limit: string | InlineRateLimit,
  inline: string,
): NamedLimit {
  if (typeof rate_limit !== "string") return { policy: null, limit: rate_limit, bucketPrefix: inline };
  const limit = rate_limits?.[rate_limit];
  if (limit === undefined) throw new Error("A route names a policy that its service does not have.");
  const bucket = limit.shared
    ? ({ kind: "shared", policy: rate_limit } as const)
    : ({ kind: "local", service, policy: rate_limit } as const);
  return { policy: rate_limit, limit, bucketPrefix: flatString(bucketPrefix(bucket)) };
}

/**
 * Gives an inline limit of a list its own bucket, because the list can have several inline limits. A policy
 * keeps its bucket.
 */
function apart(named: NamedLimit): NamedLimit {
  const { policy, limit } = named;
  if (policy !== null) return named;
  return { ...named, bucketPrefix: `${named.bucketPrefix}${limit.period ?? `${limit.window_seconds}s`}:` };
}

function limitSet(limits: readonly NamedLimit[], shared: SharedLimits): LimitSet {
  const names = new Set(limits.flatMap(({ limit }) => Object.keys(limit.plans ?? {})));
  const ofPlan = (plan: string | null) => limits.flatMap((each) => appliedTo(each, plan));
  const plans = Object.fromEntries([...names].map((plan) => [plan, ofPlan(plan)]));
  const set = { limits: ofPlan(null), plans };
  return intern(shared.sets, JSON.stringify(set), () => set);
}

/** Returns the limit with the numbers for a plan, or an empty list if the plan has no limit. */
function appliedTo({ policy, limit, bucketPrefix }: NamedLimit, plan: string | null): AppliedLimit[] {
  const numbers = numbersFor(limit, plan);
  return numbers === null ? [] : [{ policy, bucketPrefix, ...numbers, refunds: limit.charge === "success" }];
}
