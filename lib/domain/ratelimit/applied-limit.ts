import type { Period } from "./period.ts";

/** One limit of a set, with the numbers that apply to the caller's plan. */
export interface AppliedLimit {
  /** The name of the policy, or null for an inline limit. */
  readonly policy: string | null;
  /** The counter's key without the subject at its end. */
  readonly bucketPrefix: string;
  readonly requests: number;
  /** The length of the window, or the period. */
  readonly window: number | Period;
  /** Whether a request that ends in a 5xx, or without an answer, gives its count back. */
  readonly refunds: boolean;
}

/** Limits that all hold for a route: those of each plan that has its own, and those of all others (GW-180). */
export interface LimitSet {
  readonly limits: readonly AppliedLimit[];
  readonly plans: Readonly<Record<string, readonly AppliedLimit[]>>;
}

/** Returns the limits for an organization with this plan, or without one. An empty list means unlimited. */
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
