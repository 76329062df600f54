import { isRecord } from "@ostiary/lib/domain/json";

/** A rate limit of an operation, for the organization's plan. */
export interface Limit {
  readonly policy: string | null;
  readonly requests: number;
  /** The length of the window in seconds, or the calendar period. */
  readonly window: number | "day" | "month";
}

/** The maximum number of limits that the page reads for an operation. A route has at most three. */
const LIMITS_MAX = 10;

/**
 * Returns the limits for a plan from an operation's `x-rate-limit` in the edge description. Empty if the
 * operation has no limit. Returns "default" for the gateway's default limit, whose numbers the description
 * omits.
 */
export function limitsOf(described: unknown, plan: string | null): readonly Limit[] | "default" {
  if (!isRecord(described)) return [];
  if (described.default === true) return "default";
  if (!Array.isArray(described.limits)) return limitIn(described);
  const { plans } = described;
  const ofPlan = isRecord(plans) && plan !== null && Object.hasOwn(plans, plan) ? plans[plan] : undefined;
  const own = Array.isArray(ofPlan) ? ofPlan : described.limits;
  return own.slice(0, LIMITS_MAX).flatMap(limitIn);
}

function limitIn(value: unknown): Limit[] {
  if (!isRecord(value)) return [];
  const { requests, window_seconds, period } = value;
  const window = period === "day" || period === "month" ? period : window_seconds;
  if (typeof requests !== "number") return [];
  if (typeof window !== "number" && window !== "day" && window !== "month") return [];
  return [{ policy: typeof value.policy === "string" ? value.policy : null, requests, window }];
}
