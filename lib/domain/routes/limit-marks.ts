/** Marks limit changes that admit more requests or fewer requests; see `change-marks.ts`. */
import type { Change } from "./change-schema.ts";
import { type LimitNumbers, limitNumbersText, numbersFor } from "./limit-numbers.ts";
import type { Scope } from "./methods-and-scopes.ts";
import { breaks, opens, type ReviewMark } from "./review-mark.ts";
import type { InlineRateLimit, RateLimitPolicy, StoredRoute } from "./service-schema.ts";

export type Policies = Readonly<Record<string, RateLimitPolicy>>;

/** Returns the policies of a service after `changes`. */
export function policiesAfter(policies: Policies, changes: readonly Change[]): Policies {
  const after = new Map(Object.entries(policies));
  for (const { scope, before, after: now } of changes) {
    if (scope !== null) continue;
    for (const name of Object.keys(before?.rate_limits ?? {})) after.delete(name);
    for (const [name, policy] of Object.entries(now?.rate_limits ?? {})) after.set(name, policy);
  }
  return Object.fromEntries(after);
}

/**
 * Returns the marks of a changed policy. A new or removed policy has no marks, because the routes that name
 * it have their own changes.
 */
export function markPolicy({ before, after }: Change): ReviewMark[] {
  const [from] = Object.values(before?.rate_limits ?? {});
  const [to] = Object.values(after?.rate_limits ?? {});
  if (from === undefined || to === undefined) return [];
  const plans = [from, to].flatMap((policy) => Object.keys(policy.plans ?? {}));
  const marks = forEachPlan(plans, (plan) => comparePolicy(from, to, plan));
  if (from.shared !== true && to.shared === true) {
    marks.push(breaks("the routes of other services count towards the same limit"));
  }
  if (from.shared === true && to.shared !== true) {
    marks.push(opens("the routes of other services no longer count towards the same limit"));
  }
  return marks;
}

function comparePolicy(from: RateLimitPolicy, to: RateLimitPolicy, plan: string | null): ReviewMark[] {
  const side = (policy: RateLimitPolicy): Limits => {
    const numbers = numbersFor(policy, plan);
    const isRefunded = policy.charge === "success";
    return { kind: "known", all: numbers === null ? [] : [{ ...numbers, policy: null, isRefunded }] };
  };
  return compareLimits(side(from), side(to));
}

interface LimitedRoute {
  readonly scope: Scope;
  readonly settings: NonNullable<Change["before"]>;
  readonly policies: Policies;
}

/** A limit of a route on one side of a change; `policy` is null for an inline limit. */
interface Numbers extends LimitNumbers {
  readonly policy: string | null;
  readonly isRefunded: boolean;
}

/** The limits of a route on one side of a change, for the organizations of one plan. */
type Limits =
  /** The gateway's default, or a policy with unknown numbers. */
  | { kind: "unknown"; text: string }
  /** The limits, which apply together; an empty list means unlimited. */
  | { kind: "known"; all: readonly Numbers[] };

/** Compares the limits of a route before and after a change, for callers without a plan and for each plan. */
export function markLimit(from: LimitedRoute, to: LimitedRoute): ReviewMark[] {
  const isSame = JSON.stringify(from.settings.rate_limit) === JSON.stringify(to.settings.rate_limit);
  // If both sides name the same policy, a change of the policy itself has its own entry in the list.
  const marks = isSame
    ? []
    : forEachPlan([from, to].flatMap(plansOf), (plan) => {
        return compareLimits(limitsOf(from, plan), limitsOf(to, plan));
      });
  if (isLimited(from) && isLimited(to)) marks.push(...compareSubjects(from.scope, to.scope));
  return marks;
}

const isLimited = ({ settings }: LimitedRoute) => settings.rate_limit !== false;

/** Returns the marks for callers without a plan, then the additional marks of each plan. */
function forEachPlan(plans: readonly string[], compare: (plan: string | null) => ReviewMark[]): ReviewMark[] {
  const marks = compare(null);
  const known = new Set(marks.map(({ effect, reason }) => `${effect} ${reason}`));
  const ofPlans = [...new Set(plans)].flatMap((plan) =>
    compare(plan)
      .filter(({ effect, reason }) => !known.has(`${effect} ${reason}`))
      .map((mark) => ({ ...mark, reason: `for the plan ${plan}, ${mark.reason}` })),
  );
  return [...marks, ...ofPlans];
}

function plansOf({ settings: { rate_limit }, policies }: LimitedRoute): string[] {
  return listed(rate_limit).flatMap((limit) => {
    const { plans = {} } = typeof limit === "string" ? (policyOf(limit, policies) ?? {}) : limit;
    return Object.keys(plans);
  });
}

function listed(rate_limit: StoredRoute["rate_limit"]): (string | InlineRateLimit)[] {
  if (rate_limit === undefined || rate_limit === false) return [];
  return Array.isArray(rate_limit) ? rate_limit : [rate_limit];
}

function policyOf(name: string, policies: Policies): RateLimitPolicy | undefined {
  return Object.hasOwn(policies, name) ? policies[name] : undefined;
}

function limitsOf({ settings: { rate_limit }, policies }: LimitedRoute, plan: string | null): Limits {
  if (rate_limit === undefined) return { kind: "unknown", text: "the gateway's default" };
  const all: Numbers[] = [];
  for (const limit of listed(rate_limit)) {
    const written = typeof limit === "string" ? policyOf(limit, policies) : limit;
    if (written === undefined) return { kind: "unknown", text: `the policy ${limit}` };
    const numbers = numbersFor(written, plan);
    if (numbers === null) continue;
    const policy = typeof limit === "string" ? limit : null;
    all.push({ ...numbers, policy, isRefunded: written.charge === "success" });
  }
  return { kind: "known", all };
}

function compareLimits(before: Limits, after: Limits): ReviewMark[] {
  if (before.kind === "unknown" || after.kind === "unknown") return compareUnknown(before, after);
  if (before.all.length === 0) {
    return after.all.length === 0 ? [] : [breaks(`the route is limited to ${textOf(after)}`)];
  }
  if (after.all.length === 0) return [opens("the route no longer has a limit")];
  const [one, ...others] = before.all;
  const [now, ...more] = after.all;
  if (one !== undefined && now !== undefined && others.length === 0 && more.length === 0) {
    return compareOne(one, now);
  }
  const kept = before.all.flatMap((each) => {
    const same = after.all.find((other) => keyOf(other) === keyOf(each));
    return same === undefined
      ? [opens(`the route is no longer limited to ${limitNumbersText(each)}`)]
      : compareOne(each, same);
  });
  const added = after.all.filter((each) => !before.all.some((other) => keyOf(other) === keyOf(each)));
  return [...kept, ...added.map((each) => breaks(`the route is also limited to ${limitNumbersText(each)}`))];
}

const keyOf = ({ policy, window }: Numbers) => `${policy} ${policy === null ? window : ""}`;

function compareUnknown(before: Limits, after: Limits): ReviewMark[] {
  if (before.kind === "known" && before.all.length === 0)
    return [breaks(`the route is limited to ${textOf(after)}`)];
  if (after.kind === "known" && after.all.length === 0) return [opens("the route no longer has a limit")];
  const reason = `the route's limit may change from ${textOf(before)} to ${textOf(after)}`;
  return [opens(reason), breaks(reason)];
}

function textOf(limits: Limits): string {
  return limits.kind === "unknown" ? limits.text : limits.all.map(limitNumbersText).join(" and ");
}

function compareOne(before: Numbers, after: Numbers): ReviewMark[] {
  return [...compareNumbers(before, after), ...compareBuckets(before.policy, after.policy)];
}

/**
 * Compares two limits by their burst and by their long-term rate. With different windows, one limit can allow
 * the larger burst and the other the higher rate.
 */
function compareNumbers(before: Omit<Numbers, "policy">, after: Omit<Numbers, "policy">): ReviewMark[] {
  const run = (one: LimitNumbers, other: LimitNumbers) => BigInt(one.requests) * secondsOf(other.window);
  const atOnce = after.requests - before.requests;
  const inTheLongRun = run(after, before) - run(before, after);
  const text = `${limitNumbersText(before)} is now ${limitNumbersText(after)}`;
  return [
    ...(atOnce > 0 || inTheLongRun > 0n ? [opens(`the limit is raised: ${text}`)] : []),
    ...(atOnce < 0 || inTheLongRun < 0n ? [breaks(`the limit is lowered: ${text}`)] : []),
    ...(after.isRefunded && !before.isRefunded ? [opens("failed requests no longer count")] : []),
    ...(before.isRefunded && !after.isRefunded ? [breaks("failed requests count too")] : []),
  ];
}

const PERIOD_SECONDS = { day: 86_400n, month: 2_592_000n } as const;

/** Returns the length of a window in seconds. A month counts as 30 days. */
function secondsOf(window: LimitNumbers["window"]): bigint {
  return typeof window === "number" ? BigInt(window) : PERIOD_SECONDS[window];
}

/**
 * Compares the buckets of two limits. A policy has one bucket for all routes that name it; an inline limit
 * has one bucket for each method.
 */
function compareBuckets(before: string | null, after: string | null): ReviewMark[] {
  if (before === after) return [];
  if (before === null)
    return [breaks(`its requests count towards the policy ${after}, together with those of other routes`)];
  if (after === null) return [opens(`its requests no longer count towards the policy ${before}`)];
  const reason = `its requests count towards the policy ${after} instead of ${before}`;
  return [opens(reason), breaks(reason)];
}

/**
 * Compares the subjects of two limits. All members of an organization share one limit on organization routes.
 * Each member has a separate limit on member routes.
 */
function compareSubjects(from: Scope, to: Scope): ReviewMark[] {
  if (from === "organization" && to === "member") {
    return [opens("its limit counts for each member, no longer for the organization")];
  }
  if (from === "member" && to === "organization") {
    return [breaks("its limit counts for the organization, no longer for each member")];
  }
  return [];
}
