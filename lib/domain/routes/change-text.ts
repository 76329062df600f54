/** Describes changes in words for the command line and the console. */

import type { Effect } from "./change-marks.ts";
import type { Change } from "./change-schema.ts";
import { limitText, writtenLimitText } from "./limit-numbers.ts";
import type { RateLimitPolicy } from "./limit-schema.ts";
import type { Method, Scope } from "./methods-and-scopes.ts";
import type { RouteTest } from "./route-test-schema.ts";

/** The target of a change: a route, or a setting of the service itself. */
type Subject =
  | { method: Method; path: string; scope: Scope }
  | { method: null; path: null; scope: null; name: string };

type Side = NonNullable<Change["before"]>;

export function subjectOf({ scope, method, path, before, after }: Change): Subject {
  if (scope !== null && method !== null && path !== null) return { method, path, scope };
  const { test, rate_limits = {}, ...others } = after ?? before ?? {};
  const [name = ""] = [
    ...(test === undefined ? [] : [`test ${test.name}`]),
    ...Object.keys(rate_limits).map((policy) => `policy ${policy}`),
    ...Object.keys(others),
  ];
  return { method: null, path: null, scope: null, name };
}

/** A setting that differs. `before` is null for an addition, and `after` is null for a removal. */
export interface SettingChange {
  name: string;
  before: string | null;
  after: string | null;
}

/** Returns the settings that differ. An omitted setting shows its default. */
export function settingChanges({ before, after }: Change): SettingChange[] {
  return SETTINGS.flatMap(([name, omitted, textOf]) => {
    const [from, to] = [textOf(before ?? {}), textOf(after ?? {})];
    const absent = before === null || after === null ? null : omitted;
    return from === to ? [] : [{ name, before: from ?? absent, after: to ?? absent }];
  });
}

const map = <Value>(value: Value | undefined, text: (value: Value) => string) =>
  value === undefined ? undefined : text(value);

const SETTINGS: readonly [name: string, omitted: string, textOf: (side: Side) => string | undefined][] = [
  ["url", "none", ({ url }) => url],
  ["openapi", "none", ({ openapi }) => openapi],
  ["policy", "none", ({ rate_limits = {} }) => map(Object.values(rate_limits)[0], policyText)],
  ["test", "none", ({ test }) => map(test, testText)],
  ["upstream", "the request's path", ({ upstream }) => upstream],
  ["timeout", "the default", ({ timeout_ms }) => map(timeout_ms, timeoutText)],
  ["largest body", "the default", ({ max_body_bytes }) => map(max_body_bytes, bodyText)],
  ["required labels", "none", ({ required_labels }) => required_labels?.join(", ")],
  ["rate limit", "the gateway's default", ({ rate_limit }) => map(rate_limit, limitText)],
  ["audit", "by its method", ({ audit }) => map(audit, (isAudited) => (isAudited ? "yes" : "no"))],
];

function policyText(policy: RateLimitPolicy): string {
  return `${writtenLimitText(policy)}${policy.shared ? ", shared" : ""}`;
}

export function timeoutText(timeout_ms: number): string {
  return `${timeout_ms} ms`;
}

export function bodyText(max_body_bytes: number): string {
  return max_body_bytes === 0 ? "unlimited" : `${max_body_bytes} bytes`;
}

/** Returns a sentence with the number of changes, and how many of them open a route or break callers. */
export function summaryOf(changes: number, { opens, breaks }: Record<Effect, number>): string {
  if (changes === 0) return "No changes.";
  const counted = (count: number, one: string, several: string) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  const marked = [
    ...counted(opens, "opens a route", "open a route"),
    ...counted(breaks, "breaks callers", "break callers"),
  ];
  const effects = marked.length === 0 ? "no change opens a route or breaks callers" : marked.join(", ");
  return `${counted(changes, "change", "changes")}: ${effects}.`;
}

/** Returns a text with the request, the caller and the expectation of a test, without its name. */
export function testText({ method, path, role, labels, plan, expect }: RouteTest): string {
  const callers = [
    ...(role === undefined ? [] : [`role ${role}`]),
    ...(labels === undefined ? [] : [`labels ${labels.join(", ") || "none"}`]),
    ...(plan === undefined ? [] : [`plan ${plan}`]),
  ];
  const asks = [`${method} ${path}`, ...callers].join(" with ");
  return `${asks}: ${expectationText(expect)}`;
}

/** Returns a short text that describes the expectation of a test. */
function expectationText({ status, service, upstream, allowed, requests }: RouteTest["expect"]): string {
  if (status !== undefined) return "no route";
  return [
    ...(service === undefined ? [] : [`service ${service}`]),
    ...(upstream === undefined ? [] : [`upstream ${upstream}`]),
    ...(allowed === undefined ? [] : [allowed ? "allowed" : "not allowed"]),
    ...(requests === undefined ? [] : [requests === false ? "no limit" : `${requests} requests`]),
  ].join(", ");
}
