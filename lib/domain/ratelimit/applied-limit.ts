import type { Period } from "./period.ts";

/** A rate limit with the numbers for the caller's plan. */
export interface AppliedLimit {
  /** The name of the policy, or null for an inline limit. */
  readonly policy: string | null;
  /** The counter's key without the subject at its end. */
  readonly bucketPrefix: string;
  readonly requests: number;
  /** The length of the window in seconds, or the calendar period. */
  readonly window: number | Period;
  /** Whether requests that end in a 5xx or without an answer are refunded. */
  readonly refunds: boolean;
}

/**
 * The limits of a route, which apply together: `plans` for plans with their own limits, `limits` for all
 * others (GW-180).
 */
export interface LimitSet {
  readonly limits: readonly AppliedLimit[];
  readonly plans: Readonly<Record<string, readonly AppliedLimit[]>>;
}

/** Returns the limits for an organization with this plan, or without a plan. An empty list means unlimited. */
export function limitsOf({ limits, plans }: LimitSet, plan: string | null): readonly AppliedLimit[] {
  return plan !== null && Object.hasOwn(plans, plan) ? (plans[plan] ?? limits) : limits;
}

/** Returns a limit as the APIs show it: its policy and its numbers. */
export function shownLimit({ policy, requests, window }: AppliedLimit) {
  return {
    policy,
    requests,
    ...(typeof window === "number" ? { window_seconds: window } : { period: window }),
  };
}
