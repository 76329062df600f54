/** The numbers of rate limits, and texts that show them. */
import type { Period } from "../ratelimit/index.ts";
import type { InlineRateLimit, RateLimitPolicy, RouteRateLimit } from "./limit-schema.ts";

interface LimitNumbers {
  readonly requests: number;
  /** The length of the window in seconds, or the calendar period. */
  readonly window: number | Period;
}

/**
 * Returns the numbers of a limit for organizations with `plan`; null means no plan. Returns null if the
 * organizations are unlimited.
 */
export function numbersFor(
  { requests, window_seconds, period, plans = {} }: InlineRateLimit | RateLimitPolicy,
  plan: string | null,
): LimitNumbers | null {
  const own = plan !== null && Object.hasOwn(plans, plan) ? plans[plan] : undefined;
  if (own === false) return null;
  const window = period ?? own?.window_seconds ?? window_seconds;
  if (window === undefined) throw new Error("The limit has neither window_seconds nor period.");
  return { requests: own?.requests ?? requests, window };
}

/** Returns a short text with the numbers of a limit and of its plans. */
export function writtenLimitText(limit: InlineRateLimit | RateLimitPolicy): string {
  const text = (plan: string | null) => {
    const numbers = numbersFor(limit, plan);
    if (numbers === null) return "unlimited";
    const { requests, window } = numbers;
    return typeof window === "number" ? `${requests} in ${window} s` : `${requests} a ${window}`;
  };
  return [
    text(null),
    ...Object.keys(limit.plans ?? {}).map((plan) => `${plan}: ${text(plan)}`),
    ...(limit.charge === undefined ? [] : ["failed requests do not count"]),
  ].join("; ");
}

/** Returns a short text about a route's limit, or an empty string for the gateway's default limit. */
export function limitText(limit: RouteRateLimit | null | undefined): string {
  if (limit === undefined || limit === null) return "";
  if (limit === false) return "unlimited";
  if (typeof limit === "string") return limit;
  if (!Array.isArray(limit)) return writtenLimitText(limit);
  return limit.map((each) => limitText(each)).join(" and ");
}

/** Returns whether two limits have the same numbers, for every plan. */
export function isSameLimit(one: RateLimitPolicy, other: RateLimitPolicy): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** Returns the parts of a limit in a fixed order, because stored JSON does not keep the order of keys. */
function sorted({ requests, window_seconds, period, plans = {}, charge }: RateLimitPolicy) {
  const numbers = Object.entries(plans).map(([plan, own]) => [
    plan,
    own === false ? false : [own.requests, own.window_seconds],
  ]);
  return [
    requests,
    window_seconds,
    period,
    charge,
    numbers.sort(([one = ""], [other = ""]) => (one < other ? -1 : 1)),
  ];
}
