/** Which changes of limits let callers do more, and which let them do less; see marks.ts. */
import type { Change } from "./changes.ts";
import type { Scope } from "./keywords.ts";
import { breaks, type Mark, opens } from "./mark.ts";
import type { RateLimitPolicy, RouteRateLimit } from "./schema.ts";

export type Policies = Readonly<Record<string, RateLimitPolicy>>;

/** `policies` as they are once the changes are made. */
export function policiesAfter(policies: Policies, changes: readonly Change[]): Policies {
  const after = new Map(Object.entries(policies));
  for (const { scope, before, after: now } of changes) {
    if (scope !== null) continue;
    for (const name of Object.keys(before?.rate_limits ?? {})) after.delete(name);
    for (const [name, policy] of Object.entries(now?.rate_limits ?? {})) after.set(name, policy);
  }
  return Object.fromEntries(after);
}

/** A policy that comes or goes limits nobody by itself: the routes that name it are changes too. */
export function markPolicy({ before, after }: Change): Mark[] {
  const [from] = Object.values(before?.rate_limits ?? {});
  const [to] = Object.values(after?.rate_limits ?? {});
  if (from === undefined || to === undefined) return [];
  const marks = compareNumbers(from, to);
  if (from.shared !== true && to.shared === true) {
    marks.push(breaks("the routes of other services count into the same limit"));
  }
  if (from.shared === true && to.shared !== true) {
    marks.push(opens("the routes of other services no longer count into the same limit"));
  }
  return marks;
}

interface LimitedRoute {
  readonly scope: Scope;
  readonly settings: NonNullable<Change["before"]>;
  readonly policies: Policies;
}

/** The limit of a route on one side of a change. */
type Limit =
  | { kind: "none" }
  /** The gateway's default, or a policy whose numbers were not given. */
  | { kind: "unknown"; text: string }
  | { kind: "numbers"; requests: number; window_seconds: number; policy: string | null };

export function markLimit(from: LimitedRoute, to: LimitedRoute): Mark[] {
  const [before, after] = [limitOf(from), limitOf(to)];
  const marks = isSame(from, to) ? [] : compareLimits(before, after);
  if (before.kind !== "none" && after.kind !== "none") marks.push(...compareSubjects(from.scope, to.scope));
  return marks;
}

/** A policy that both sides name has its own change in the list. */
function isSame({ settings: from }: LimitedRoute, { settings: to }: LimitedRoute): boolean {
  return JSON.stringify(from.rate_limit) === JSON.stringify(to.rate_limit);
}

function limitOf({ settings: { rate_limit }, policies }: LimitedRoute): Limit {
  if (rate_limit === false) return { kind: "none" };
  if (rate_limit === undefined) return { kind: "unknown", text: "the gateway's default" };
  if (typeof rate_limit !== "string") return { kind: "numbers", ...rate_limit, policy: null };
  const policy = Object.hasOwn(policies, rate_limit) ? policies[rate_limit] : undefined;
  if (policy === undefined) return { kind: "unknown", text: `the policy ${rate_limit}` };
  const { requests, window_seconds } = policy;
  return { kind: "numbers", requests, window_seconds, policy: rate_limit };
}

function compareLimits(before: Limit, after: Limit): Mark[] {
  if (before.kind === "none") return after.kind === "none" ? [] : [breaks(`limited to ${textOf(after)}`)];
  if (after.kind === "none") return [opens("it has no limit any more")];
  if (before.kind === "unknown" || after.kind === "unknown") {
    const reason = `its limit may be another: ${textOf(after)} in place of ${textOf(before)}`;
    return [opens(reason), breaks(reason)];
  }
  return [...compareNumbers(before, after), ...compareBuckets(before.policy, after.policy)];
}

function textOf(limit: Limit): string {
  if (limit.kind === "none") return "no limit";
  return limit.kind === "unknown" ? limit.text : limitNumbersText(limit);
}

type Numbers = Exclude<RouteRateLimit, string | false>;

export function limitNumbersText({ requests, window_seconds }: Numbers): string {
  return `${requests} in ${window_seconds} s`;
}

/** By what may come at once, and by what may come in the long run: of two windows each can favour another limit. */
function compareNumbers(before: Numbers, after: Numbers): Mark[] {
  const run = (one: Numbers, other: Numbers) => BigInt(one.requests) * BigInt(other.window_seconds);
  const atOnce = after.requests - before.requests;
  const inTheLongRun = run(after, before) - run(before, after);
  const text = `${limitNumbersText(before)} is now ${limitNumbersText(after)}`;
  return [
    ...(atOnce > 0 || inTheLongRun > 0n ? [opens(`the limit is raised: ${text}`)] : []),
    ...(atOnce < 0 || inTheLongRun < 0n ? [breaks(`the limit is lowered: ${text}`)] : []),
  ];
}

/** A policy counts the requests of all routes that name it together, an own limit those of one method alone. */
function compareBuckets(before: string | null, after: string | null): Mark[] {
  if (before === after) return [];
  if (before === null) return [breaks(`its requests count into the policy ${after}, together with others`)];
  if (after === null) return [opens(`its requests no longer count into the policy ${before}`)];
  const reason = `its requests count into the policy ${after} in place of ${before}`;
  return [opens(reason), breaks(reason)];
}

/** The members of an organization share its limit; each has a member's limit alone. */
function compareSubjects(from: Scope, to: Scope): Mark[] {
  if (from === "organization" && to === "member") {
    return [opens("its limit counts for each member, no longer for the organization")];
  }
  if (from === "member" && to === "organization") {
    return [breaks("its limit counts for the organization, no longer for each member")];
  }
  return [];
}
