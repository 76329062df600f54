/** Runs route tests against a table of routes (RG-148). */
import { quoted } from "../errors/index.ts";
import { limitsOf } from "../ratelimit/index.ts";
import { type CompiledRoute, labelsSuffice } from "./compile-service.ts";
import { isOfMembers } from "./methods-and-scopes.ts";
import { parsedPath } from "./request-path.ts";
import type { RouteTable } from "./route-table.ts";
import type { RouteTest } from "./route-test-schema.ts";
import { upstreamPath } from "./upstream-path.ts";

/** The labels of each role, by the role's slug. Null means that there is no roles file. */
export type Roles = ReadonlyMap<string, readonly string[]> | null;

/** Stands for the ids of an owner in the upstream paths that tests expect. */
const OWNERS = {
  user_id: "{subject.user_id}",
  organization_id: "{subject.organization_id}",
  member_id: "{subject.member_id}",
};

/**
 * Returns how the matched route differs from a test's expectation, as the end of a sentence, or null if the
 * test passes.
 */
export function failureOf(test: RouteTest, table: RouteTable, roles: Roles): string | null {
  const requested = parsedPath(test.path);
  const match = table.match(test.method, requested);
  const { expect } = test;
  if (match === null) return expect.status === undefined ? "no route serves the request" : null;
  const { service, method, path } = match.route;
  if (expect.status !== undefined) return `${service} serves the request with the route ${method} ${path}`;
  const called = upstreamPath(match, requested, OWNERS);
  if ("error" in called) return "the gateway responds with 400, because a param is not one segment";
  const differences = [
    ...differs("service", expect.service, service),
    ...differs("upstream", expect.upstream, called.path),
    ...(expect.allowed === undefined ? [] : allowedDiffers(test, match.route, roles)),
    ...(expect.requests === undefined
      ? []
      : differs("requests", expect.requests, requestsOf(match.route, test.plan ?? null))),
  ];
  return differences.length === 0 ? null : differences.join(", ");
}

export function testFailed({ name, method, path }: RouteTest, failure: string): string {
  return `The test ${quoted(name)} of ${method} ${path} fails: ${failure}.`;
}

function differs<Value extends string | number | boolean>(
  field: string,
  expected: Value | undefined,
  found: Value | string,
): string[] {
  return expected === undefined || expected === found ? [] : [`${field} is ${found}, not ${expected}`];
}

function allowedDiffers({ role, labels, expect }: RouteTest, route: CompiledRoute, roles: Roles): string[] {
  const held = role === undefined ? labels : roles?.get(role);
  if (held === undefined) return [unknownRole(role, roles)];
  // labels apply to organization and member routes only
  const allowed = !isOfMembers(route) || labelsSuffice(route.required_labels, held);
  if (allowed === expect.allowed) return [];
  const needed = route.required_labels?.list.join(" or ") ?? "no label";
  return [`allowed is ${allowed}, not ${expect.allowed}, since the route needs ${needed}`];
}

function unknownRole(role: string | undefined, roles: Roles): string {
  return roles === null
    ? `the role ${role} is unknown without a roles file`
    : `the roles file has no role ${role}`;
}

/**
 * Returns the smallest `requests` of the route's limits, or false if the route is unlimited. Returns a text
 * if the gateway's default limit applies.
 */
function requestsOf({ rate_limit }: CompiledRoute, plan: string | null): number | false | string {
  if (rate_limit === "fallback") return "the gateway's default";
  if (rate_limit === null) return false;
  if ("requests" in rate_limit) return rate_limit.requests;
  const limits = limitsOf(rate_limit, plan);
  return limits.length === 0 ? false : Math.min(...limits.map(({ requests }) => requests));
}
