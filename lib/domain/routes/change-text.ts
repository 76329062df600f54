/** Describes changes in words for the command line and the console. */

import type { Effect } from "./change-marks.ts";
import type { Change } from "./change-schema.ts";
import { limitText, writtenLimitText } from "./limit-numbers.ts";
import type { Method, Scope } from "./methods-and-scopes.ts";
import type { RouteTest } from "./route-test-schema.ts";

/** The target of a change: a route, or a setting of the service itself. */
type Subject =
  | { method: Method; path: string; scope: Scope }
  | { method: null; path: null; scope: null; name: string };

export function subjectOf({ scope, method, path, before, after }: Change): Subject {
  if (scope !== null && method !== null && path !== null) return { method, path, scope };
  const side = after ?? before ?? {};
  const [policy] = Object.keys(side.rate_limits ?? {});
  if (side.test !== undefined)
    return { method: null, path: null, scope: null, name: `test ${side.test.name}` };
  const name = policy === undefined ? Object.keys(side).join(", ") : `policy ${policy}`;
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
  const [old, now] = [settingsOf(before), settingsOf(after)];
  return SETTINGS.flatMap(({ key, name, omitted }) => {
    const [from, to] = [old[key], now[key]];
    if (from === to) return [];
    const shown = (text: string | undefined, side: Change["before"]) =>
      text ?? (side === null || before === null || after === null ? null : omitted);
    return [{ name, before: shown(from, before), after: shown(to, after) }];
  });
}

const SETTINGS = [
  { key: "url", name: "url", omitted: "none" },
  { key: "openapi", name: "openapi", omitted: "none" },
  { key: "policy", name: "policy", omitted: "none" },
  { key: "test", name: "test", omitted: "none" },
  { key: "upstream", name: "upstream", omitted: "the request's path" },
  { key: "timeout", name: "timeout", omitted: "the default" },
  { key: "body", name: "largest body", omitted: "the default" },
  { key: "labels", name: "required labels", omitted: "none" },
  { key: "limit", name: "rate limit", omitted: "the gateway's default" },
  { key: "audit", name: "audit", omitted: "by its method" },
] as const;

type Settings = Partial<Record<(typeof SETTINGS)[number]["key"], string>>;

function settingsOf(side: Change["before"]): Settings {
  const { url, openapi, rate_limits = {}, test, upstream, required_labels, rate_limit, audit } = side ?? {};
  const { timeout_ms, max_body_bytes } = side ?? {};
  const [policy] = Object.values(rate_limits);
  return {
    url,
    openapi,
    policy: policy && `${writtenLimitText(policy)}${policy.shared ? ", shared" : ""}`,
    test: test && testText(test),
    upstream,
    timeout: timeout_ms === undefined ? undefined : timeoutText(timeout_ms),
    body: max_body_bytes === undefined ? undefined : bodyText(max_body_bytes),
    labels: required_labels?.join(", "),
    limit: rate_limit === undefined ? undefined : limitText(rate_limit),
    audit: audit === undefined ? undefined : audit ? "yes" : "no",
  };
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
  const told = marked.length === 0 ? "no change opens a route or breaks callers" : marked.join(", ");
  return `${counted(changes, "change", "changes")}: ${told}.`;
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
