/**
 * Marks the changes that allow requests which were refused (`opens`), and the changes that break callers
 * (`breaks`). The README of the command line has a table of the rules. The rules read only the list of
 * changes, and mark a change when in doubt: a limit with other numbers than `requests` gets both marks.
 */
import type { ConfiguredBounds } from "./call-bounds.ts";
import type { Change } from "./change-schema.ts";
import { isAudited } from "./compile-service.ts";
import { isSameLimit, limitText, writtenLimitText } from "./limit-numbers.ts";
import type { RateLimitPolicy } from "./limit-schema.ts";
import { isOfMembers, type Method, SCOPES, type Scope, SUBJECT_FIELDS } from "./methods-and-scopes.ts";
import { withoutParamNames } from "./route-conflicts.ts";

/** The effects of a change: it opens access, or breaks callers. */
export const EFFECTS = ["opens", "breaks"] as const;
export type Effect = (typeof EFFECTS)[number];

/** A reason to review a change: its effect, and a text that explains the effect. */
interface ReviewMark {
  readonly effect: Effect;
  readonly reason: string;
}

const opens = (reason: string): ReviewMark => ({ effect: "opens", reason });
const breaks = (reason: string): ReviewMark => ({ effect: "breaks", reason });
const opensAndBreaks = (reason: string) => [opens(reason), breaks(reason)];

export type MarkedChange = Change & { readonly marks: readonly ReviewMark[] };

type RouteChange = Change & { scope: Scope; method: Method; path: string };
type Settings = NonNullable<Change["before"]>;
type RouteSide = Settings & Pick<RouteChange, "scope" | "method">;

/** Returns all changes of one service in order, each with its marks. */
export function markChanges(changes: readonly Change[]): MarkedChange[] {
  const { partnerOf, replaced } = pairMoved(changes);
  // The routes of a service that is created or deleted have their own changes.
  const isKept = !changes.some(
    ({ action, before, after }) => action !== "changed" && (before ?? after)?.url !== undefined,
  );
  const marksOf = (change: Change): ReviewMark[] => {
    const { scope, before, after } = change;
    if (scope === null)
      return [...markPolicy(change), ...(isKept ? markBounds(before ?? {}, after ?? {}) : [])];
    if (replaced.has(change)) return [];
    return markRoute(routeSide(partnerOf.get(change) ?? change, "before"), routeSide(change, "after"));
  };
  return changes.map((change) => ({ ...change, marks: marksOf(change) }));
}

export function countEffects(changes: readonly MarkedChange[]): Record<Effect, number> {
  const having = (effect: Effect) =>
    changes.filter(({ marks }) => marks.some((mark) => mark.effect === effect));
  return { opens: having("opens").length, breaks: having("breaks").length };
}

/**
 * Pairs a removed route with an added route that serves the same requests: the route moved to another scope,
 * or its params have new names. Pairs routes with equal paths first, then routes whose paths differ in param names.
 */
function pairMoved(changes: readonly Change[]) {
  const routes = changes.filter(isRoute);
  const partnerOf = new Map<Change, Change>();
  const replaced = new Set<Change>();
  for (const shapeOf of [(path: string) => path, withoutParamNames]) {
    const keyOf = ({ method, path }: RouteChange) => `${method} ${shapeOf(path)}`;
    const free = routes.filter((change) => change.action === "removed" && !replaced.has(change));
    const byKey = Map.groupBy(free, keyOf);
    for (const change of routes) {
      if (change.action !== "added" || partnerOf.has(change)) continue;
      const partner = byKey.get(keyOf(change))?.shift();
      if (partner === undefined) continue;
      partnerOf.set(change, partner);
      replaced.add(partner);
    }
  }
  return { partnerOf, replaced };
}

function isRoute(change: Change): change is RouteChange {
  return change.scope !== null && change.method !== null && change.path !== null;
}

function routeSide(change: Change, side: "before" | "after"): RouteSide | null {
  const settings = change[side];
  if (settings === null || !isRoute(change)) return null;
  return { ...settings, scope: change.scope, method: change.method };
}

function markRoute(from: RouteSide | null, to: RouteSide | null): ReviewMark[] {
  if (to === null) return from === null ? [] : [breaks("the route is gone")];
  if (from === null) return to.scope === "public" ? [opens(FOR_ANYONE)] : [];
  const marks = [markScope, markLabels, markOwner, markAudit, markLimit, markBounds];
  return marks.flatMap((mark) => mark(from, to));
}

const FOR_ANYONE = "anyone may call the route without a credential";

const CREDENTIALS: Record<Scope, string | null> = {
  public: null,
  user: "a person's token or key",
  organization: "a member's key or session",
  member: "a member's key or session",
};

function markScope({ scope: from }: RouteSide, { scope: to }: RouteSide): ReviewMark[] {
  const marks: ReviewMark[] = [];
  if (SCOPES.indexOf(to) < SCOPES.indexOf(from)) {
    marks.push(opens(to === "public" ? FOR_ANYONE : `the scope ${to} is less protected than ${from}`));
  }
  const credential = CREDENTIALS[to];
  if (credential !== null && credential !== CREDENTIALS[from])
    marks.push(breaks(`callers need ${credential}`));
  return marks;
}

/**
 * Marks changes of labels. One label of the list admits a member, so each added label admits more members.
 * Labels are checked for members only.
 */
function markLabels(from: RouteSide, to: RouteSide): ReviewMark[] {
  if (!isOfMembers(from) || !isOfMembers(to)) return [];
  const [old, now] = [from.required_labels, to.required_labels];
  if (old === undefined && now === undefined) return [];
  if (old === undefined) return [breaks(`members need ${oneOf(now ?? [])}`)];
  if (now === undefined) return [opens(`members no longer need ${oneOf(old)}`)];
  const added = now.filter((label) => !old.includes(label));
  const removed = old.filter((label) => !now.includes(label));
  return [
    ...(added.length > 0 ? [opens(`members with ${added.join(" or ")} may call the route too`)] : []),
    ...(removed.length > 0 ? [breaks(`${removed.join(" or ")} alone no longer lets a member pass`)] : []),
  ];
}

function oneOf(labels: readonly string[]): string {
  return labels.length === 1 ? `the label ${labels[0]}` : `one of the labels ${labels.join(", ")}`;
}

/**
 * Marks an owner id that `upstream` no longer contains. Without the id, the upstream path does not limit a
 * request to the caller's own data.
 */
function markOwner(from: RouteSide, to: RouteSide): ReviewMark[] {
  const lost = SUBJECT_FIELDS[to.scope].filter(
    (field) => names(from.upstream, field) && !names(to.upstream, field),
  );
  return lost.map((field) => opens(`upstream no longer contains the caller's ${field}`));
}

function names(upstream: string | undefined, field: string): boolean {
  return upstream?.includes(`{subject.${field}}`) === true;
}

function markAudit(from: RouteSide, to: RouteSide): ReviewMark[] {
  const was = isAudited(from.scope, from.method, from.audit);
  const is = isAudited(to.scope, to.method, to.audit);
  return was && !is ? [opens("its requests are no longer audited")] : [];
}

function markLimit(from: RouteSide, to: RouteSide): ReviewMark[] {
  const [before, after] = [from.rate_limit, to.rate_limit];
  if (before === false)
    return after === false ? [] : [breaks(`the route is limited to ${shownLimit(after)}`)];
  if (after === false) return [opens("the route no longer has a limit")];
  const marks = markSubject(from.scope, to.scope);
  if (isNumbers(before) && isNumbers(after)) return [...marks, ...compareLimits(before, after)];
  // A change of the policy that both sides name has its own entry in the list.
  if (JSON.stringify(before) === JSON.stringify(after)) return marks;
  const text = `the route's limit changes from ${shownLimit(before)} to ${shownLimit(after)}`;
  return [...marks, ...opensAndBreaks(text)];
}

type RouteLimit = Settings["rate_limit"];
type OwnLimit = Exclude<RouteLimit, undefined | false | string | unknown[]>;

const shownLimit = (limit: RouteLimit) => limitText(limit) || "the gateway's default";

function isNumbers(limit: RouteLimit): limit is OwnLimit {
  return typeof limit === "object" && !Array.isArray(limit);
}

/** Organization routes have one limit for all members, member routes one for each member. */
function markSubject(from: Scope, to: Scope): ReviewMark[] {
  if (from === "organization" && to === "member") return [opens("its limit counts for each member")];
  if (from === "member" && to === "organization") return [breaks("its limit counts for the organization")];
  return [];
}

/** Marks a changed policy. The routes that name a new or removed policy have their own changes. */
function markPolicy({ before, after }: Change): ReviewMark[] {
  const [from] = Object.values(before?.rate_limits ?? {});
  const [to] = Object.values(after?.rate_limits ?? {});
  return from === undefined || to === undefined ? [] : compareLimits(from, to);
}

function compareLimits(before: RateLimitPolicy, after: RateLimitPolicy): ReviewMark[] {
  const isShared = after.shared === true;
  if ((before.shared === true) !== isShared) {
    return opensAndBreaks(`the policy is ${isShared ? "now" : "no longer"} shared with other services`);
  }
  if (isSameLimit(before, after)) return [];
  const text = `${writtenLimitText(before)} is now ${writtenLimitText(after)}`;
  if (!isSameLimit(before, { ...after, requests: before.requests })) {
    return opensAndBreaks(`the limit changes: ${text}`);
  }
  return after.requests > before.requests
    ? [opens(`the limit is raised: ${text}`)]
    : [breaks(`the limit is lowered: ${text}`)];
}

/** Marks changes of timeouts and of maximum body sizes. An omitted bound is the gateway's, which is unknown. */
function markBounds(before: ConfiguredBounds, after: ConfiguredBounds): ReviewMark[] {
  const marks: ReviewMark[] = [];
  const change = (from: number, to: number, unit: string) =>
    `${boundText(from, unit)} is now ${boundText(to, unit)}`;
  const [time, newTime] = [before.timeout_ms ?? Number.NaN, after.timeout_ms ?? Number.NaN];
  if (!Object.is(time, newTime) && !(newTime > time)) {
    marks.push(breaks(`the service may get less time to respond: ${change(time, newTime, "ms")}`));
  }
  const [size, newSize] = [sizeOf(before), sizeOf(after)];
  if (Object.is(size, newSize)) return marks;
  const sizes = change(size, newSize, "bytes");
  if (!(newSize < size) && size !== Number.POSITIVE_INFINITY)
    marks.push(opens(`larger bodies may be admitted: ${sizes}`));
  if (!(newSize > size) && newSize !== Number.POSITIVE_INFINITY)
    marks.push(breaks(`larger bodies may be refused: ${sizes}`));
  return marks;
}

/** Returns a size that can be compared: 0 means no limit. */
function sizeOf({ max_body_bytes }: ConfiguredBounds): number {
  return max_body_bytes === 0 ? Number.POSITIVE_INFINITY : (max_body_bytes ?? Number.NaN);
}

function boundText(bound: number, unit: string): string {
  if (Number.isNaN(bound)) return "the default";
  return bound === Number.POSITIVE_INFINITY ? "no limit" : `${bound} ${unit}`;
}
