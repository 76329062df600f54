import type { Period } from "./period.ts";

/** A rate limit with the numbers for the caller's plan. */
export interface AppliedLimit {
  /** The name of the policy, or null for an inline limit. */
  readonly policy: string | null;
  /** The part of the counter's key before the subject. */
  readonly bucketPrefix: string;
  readonly requests: number;
  /** The length of the window in seconds, or the calendar period. */
  readonly window: number | Period;
  /** Whether a request that ends in a 5xx, or that does not reach its service, is refunded. */
  readonly refunds: boolean;
}

/**
 * The limits of a route (GW-180). `plans` contains limits by plan. `limits` apply to organizations without a
 * plan, and to plans that are not in `plans`.
 */
export interface LimitSet {
  readonly limits: readonly AppliedLimit[];
  readonly plans: Readonly<Record<string, readonly AppliedLimit[]>>;
}

/** Returns the limits for organizations with `plan`; null means no plan. An empty list means unlimited. */
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
