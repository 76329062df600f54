/**
 * Marks the changes that allow requests which were refused (`opens`), and the changes that break callers
 * (`breaks`). The README of the command line has a table of the rules. The rules read only the list of
 * changes, and mark a change when in doubt: a limit with unknown numbers gets both marks.
 */
import { markBounds, markServiceBounds } from "./bound-marks.ts";
import type { Change } from "./change-schema.ts";
import { isAudited } from "./compile-service.ts";
import { markLimit, markPolicy, type Policies, policiesAfter } from "./limit-marks.ts";
import { type Method, SCOPES, type Scope, SUBJECT_FIELDS } from "./methods-and-scopes.ts";
import { breaks, type Effect, opens, type ReviewMark } from "./review-mark.ts";
import { withoutParamNames } from "./route-conflicts.ts";

export type MarkedChange = Change & { readonly marks: readonly ReviewMark[] };

/** A route before or after a change. */
interface RouteSide {
  readonly scope: Scope;
  readonly method: Method;
  readonly settings: NonNullable<Change["before"]>;
  readonly policies: Policies;
}

/**
 * Returns all changes of one service in order, each with its marks.
 *
 * @param policies the policies of the service before the changes
 */
export function markChanges(changes: readonly Change[], policies: Policies = {}): MarkedChange[] {
  const before = policies;
  const after = policiesAfter(policies, changes);
  const { partnerOf, replaced } = pairMoved(changes);
  return changes.map((change) => {
    if (change.scope === null)
      return { ...change, marks: [...markPolicy(change), ...markServiceBounds(change, changes)] };
    if (replaced.has(change)) return { ...change, marks: [] };
    const from = routeSide(partnerOf.get(change) ?? change, "before", before);
    const to = routeSide(change, "after", after);
    return { ...change, marks: markRoute(from, to) };
  });
}

/** Returns whether the marks depend on policies by name. These policies can be missing from `changes`. */
export function namesPolicies(changes: readonly Change[]): boolean {
  return changes.some(
    ({ scope, before, after }) =>
      scope !== null && [before, after].some((side) => typeof side?.rate_limit === "string"),
  );
}

/** Counts the changes that have each effect. */
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
  for (const keyOf of [pathKey, requestsKey]) {
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

function pathKey({ method, path }: RouteChange): string {
  return `${method} ${path}`;
}

function requestsKey({ method, path }: RouteChange): string {
  return `${method} ${withoutParamNames(path)}`;
}

type RouteChange = Change & { scope: Scope; method: Method; path: string };

function isRoute(change: Change): change is RouteChange {
  return change.scope !== null && change.method !== null && change.path !== null;
}

function routeSide(change: Change, side: "before" | "after", policies: Policies): RouteSide | null {
  const settings = change[side];
  if (settings === null || !isRoute(change)) return null;
  return { scope: change.scope, method: change.method, settings, policies };
}

function markRoute(from: RouteSide | null, to: RouteSide | null): ReviewMark[] {
  if (to === null) return from === null ? [] : [breaks("the route is gone")];
  if (from === null) return to.scope === "public" ? [opens(FOR_ANYONE)] : [];
  return [
    ...markScope(from, to),
    ...markLabels(from, to),
    ...markOwner(from, to),
    ...markAudit(from, to),
    ...markLimit(from, to),
    ...markBounds(from.settings, to.settings),
  ];
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
function markLabels(
  { scope, settings: before }: RouteSide,
  { scope: to, settings: after }: RouteSide,
): ReviewMark[] {
  if (!isMembers(scope) || !isMembers(to)) return [];
  const [old, now] = [before.required_labels, after.required_labels];
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

function isMembers(scope: Scope): boolean {
  return scope === "organization" || scope === "member";
}

function oneOf(labels: readonly string[]): string {
  return labels.length === 1 ? `the label ${labels[0]}` : `one of the labels ${labels.join(", ")}`;
}

/**
 * Marks an owner id that `upstream` no longer contains. Without the id, the upstream path does not limit a
 * request to the caller's own data.
 */
function markOwner({ settings: before }: RouteSide, { scope, settings: after }: RouteSide): ReviewMark[] {
  const lost = SUBJECT_FIELDS[scope].filter(
    (field) => names(before.upstream, field) && !names(after.upstream, field),
  );
  return lost.map((field) => opens(`upstream no longer contains the caller's ${field}`));
}

function names(upstream: string | undefined, field: string): boolean {
  return upstream?.includes(`{subject.${field}}`) === true;
}

function markAudit(from: RouteSide, to: RouteSide): ReviewMark[] {
  const was = isAudited(from.scope, from.method, from.settings.audit);
  const is = isAudited(to.scope, to.method, to.settings.audit);
  return was && !is ? [opens("its requests are no longer audited")] : [];
}
