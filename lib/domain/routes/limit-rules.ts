/** Checks the rules between fields of rate limits (RG-24, RG-25, RG-107 to RG-109). */
import { type FieldPath, type Partly, quoted, type Violations } from "../errors/index.ts";
import type { InlineRateLimit, RateLimitPolicy, RouteRateLimit } from "./limit-schema.ts";
import { isOfMembers, type Scope } from "./methods-and-scopes.ts";
import { noPolicyMessage, windowMessage } from "./schema-messages.ts";

/** The policies of a service by name, or undefined for a policy that does not match its schema. */
export type Policies = ReadonlyMap<string, Partly<RateLimitPolicy> | undefined>;

interface Context {
  readonly scope: Scope;
  readonly policies: Policies;
  readonly violations: Violations;
}

/**
 * Checks one policy or inline limit. The limit needs `window_seconds` or `period`, not both. With `period`, a
 * plan must leave out `window_seconds`.
 */
export function checkLimit(limit: Partly<InlineRateLimit>, at: FieldPath, violations: Violations): void {
  const hasPeriod = "period" in limit;
  if (!hasPeriod && !("window_seconds" in limit)) {
    violations.add([...at, "window_seconds"], windowMessage(undefined));
  }
  if (hasPeriod && "window_seconds" in limit) {
    violations.add(
      [...at, "period"],
      "A limit can have window_seconds or period, not both: remove one of them.",
    );
  }
  for (const [plan, numbers] of Object.entries(limit.plans ?? {})) {
    if (!hasPeriod || numbers === undefined || numbers === false || !("window_seconds" in numbers)) continue;
    violations.add(
      [...at, "plans", plan, "window_seconds"],
      "The period of the limit applies to every plan: leave window_seconds out.",
    );
  }
}

export function checkRouteLimit(
  rate_limit: Partly<Exclude<RouteRateLimit, false>>,
  at: FieldPath,
  context: Context,
): void {
  if (!Array.isArray(rate_limit)) {
    checkOne(rate_limit, at, context);
    return;
  }
  const seen = new Set<string>();
  for (const [index, limit] of rate_limit.entries()) {
    if (limit === undefined) continue;
    checkOne(limit, [...at, index], context);
    const key = typeof limit === "string" ? `policy ${limit}` : (limit.period ?? limit.window_seconds);
    if (key === undefined) continue;
    if (seen.has(String(key))) context.violations.add([...at, index], repeatedMessage(limit));
    seen.add(String(key));
  }
}

function checkOne(
  limit: string | Partly<InlineRateLimit>,
  at: FieldPath,
  { scope, policies, violations }: Context,
): void {
  const takesPlans = isOfMembers({ scope });
  if (typeof limit !== "string") {
    checkLimit(limit, at, violations);
    if (!takesPlans && "plans" in limit) violations.add([...at, "plans"], noPlansMessage(scope));
  } else if (!policies.has(limit)) {
    violations.add(at, noPolicyMessage(limit));
  } else if (!takesPlans && policies.get(limit)?.plans !== undefined) {
    violations.add(at, `The policy ${quoted(limit)} has plans. ${noPlansMessage(scope)}`);
  }
}

const noPlansMessage = (scope: Scope) =>
  `Only organization and member routes can have plans: a plan belongs to an organization, and a ${scope} route has none.`;

function repeatedMessage(limit: string | Partly<InlineRateLimit>): string {
  return typeof limit === "string"
    ? `The policy ${quoted(limit)} is listed twice: remove one of the two.`
    : "Two limits of the list have the same window: keep the smaller limit.";
}
