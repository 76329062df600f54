/** Reads one service, as written or as stored (Gateway specification, ServiceConfig, rules 5-7). */
import { isRecord } from "../json/index.ts";
import { joinPrefix } from "./expand.ts";
import { SERVICE_CONFIG_BYTES_MAX } from "./limits.ts";
import { paramNames, pathFaults } from "./path.ts";
import { policyNameFault, type RouteContext, readPolicy } from "./read-constraints.ts";
import { type ReadPrefix, readRoute } from "./read-route.ts";
import { list, memberPath, type Report, refuseUnknown } from "./report.ts";
import {
  type RateLimitPolicy,
  SCOPES,
  ScopeConfig,
  ServiceConfig,
  StoredScope,
  type StoredServiceConfig,
} from "./schema.ts";
import { serviceUrlFault, storedUrlFault } from "./service-url.ts";

export const SERVICE_TOO_LARGE = `A service has at most ${SERVICE_CONFIG_BYTES_MAX} bytes of JSON: split it into several services.`;

/** The form as written allows prefixes and maps of methods; the stored one allows a url without a scheme. */
export type ServiceForm = "written" | "stored";

/**
 * Reads one service and reports all that is wrong with it, each rule on the full paths. The result is complete
 * when nothing was reported; reading the stored form gives a {@link StoredServiceConfig}.
 */
export function readService(
  value: unknown,
  form: ServiceForm,
  at: string,
  report: Report,
): ServiceConfig | undefined {
  if (!isRecord(value)) {
    report.add(at, `A service is an object with url and at least one of ${list(SCOPES)}.`);
    return undefined;
  }
  refuseUnknown(value, Object.keys(ServiceConfig.properties), "A service", at, report);
  const url = readUrl(value.url, form, memberPath(at, "url"), report);
  const rate_limits = readPolicies(value.rate_limits, memberPath(at, "rate_limits"), report);
  const service: ServiceConfig = { url, ...(rate_limits !== undefined && { rate_limits }) };
  const policyNames = new Set(isRecord(value.rate_limits) ? Object.keys(value.rate_limits) : []);
  const declared = new Map<string, string>();
  const expanded = { path_bytes: 0 };
  for (const scope of SCOPES) {
    if (value[scope] === undefined) continue;
    const context = { scope, policyNames, allowMethodMap: form === "written", expanded, report };
    service[scope] = readScope(value[scope], memberPath(at, scope), declared, context);
  }
  if (expanded.path_bytes > SERVICE_CONFIG_BYTES_MAX) report.add(at, SERVICE_TOO_LARGE);
  if (SCOPES.every((scope) => value[scope] === undefined)) {
    report.add(at, `A service has at least one scope: ${list(SCOPES)}.`);
  }
  return service;
}

function readUrl(value: unknown, form: ServiceForm, at: string, report: Report): string {
  if (typeof value !== "string") {
    const missing = value === undefined || value === null;
    report.add(
      at,
      `${missing ? "Set url to" : "url is"} \`http://host:port\`, such as \`http://widgets:8080\`.`,
    );
    return "";
  }
  const fault = form === "written" ? serviceUrlFault(value) : storedUrlFault(value);
  if (fault !== null) report.add(at, fault);
  return value;
}

function readPolicies(
  value: unknown,
  at: string,
  report: Report,
): Record<string, RateLimitPolicy> | undefined {
  if (value === undefined) return undefined;
  if (!isRecord(value)) {
    report.add(at, "rate_limits is a map from names to policies {requests, window_seconds, shared}.");
    return undefined;
  }
  const policies: [string, RateLimitPolicy][] = [];
  for (const [name, entry] of Object.entries(value)) {
    if (report.isFull) break;
    const path = memberPath(at, name);
    const fault = policyNameFault(name);
    if (fault !== null) report.add(path, fault);
    const policy = readPolicy(entry, path, report);
    if (policy !== undefined) policies.push([name, policy]);
  }
  return Object.fromEntries(policies);
}

/** @param declared where each method and full path of the service was read first, over all its scopes */
function readScope(
  value: unknown,
  at: string,
  declared: Map<string, string>,
  context: RouteContext,
): ScopeConfig {
  const { report } = context;
  const scope: ScopeConfig = { routes: [] };
  if (!isRecord(value)) {
    report.add(at, "A scope is an object with routes.");
    return scope;
  }
  const shape = context.allowMethodMap ? ScopeConfig : StoredScope;
  refuseUnknown(value, Object.keys(shape.properties), "A scope", at, report);
  const prefix = context.allowMethodMap
    ? readPrefix(value.route_prefix, memberPath(at, "route_prefix"), context)
    : undefined;
  if (prefix) scope.route_prefix = prefix.text;
  // below a prefix that is not known, paths can be compared with each other only
  const comparable = prefix === null ? new Map<string, string>() : declared;
  const { routes } = value;
  if (!Array.isArray(routes)) {
    report.add(
      memberPath(at, "routes"),
      `${routes === undefined ? "Set routes: " : "routes is "}a list of routes.`,
    );
    return scope;
  }
  for (const [index, item] of routes.entries()) {
    if (report.isFull || context.expanded.path_bytes > SERVICE_CONFIG_BYTES_MAX) break;
    const path = `${memberPath(at, "routes")}[${index}]`;
    const route = readRoute(item, prefix, path, context);
    if (route === undefined) continue;
    context.expanded.path_bytes += declareRows(route, prefix, path, comparable, report);
    scope.routes.push(route);
  }
  return scope;
}

/** A prefix that is wrong by itself is reported once and null, so that its routes show their own faults only. */
function readPrefix(value: unknown, at: string, { scope, report }: RouteContext): ReadPrefix {
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") {
    report.add(at, "route_prefix is a path, such as `/org`, that is joined in front of each route's path.");
    return null;
  }
  const path = joinPrefix(value, "/");
  const faults = pathFaults(path, scope);
  for (const fault of faults) report.add(at, fault);
  return faults.length === 0 ? { text: value, params: paramNames(path) } : null;
}

/** Notes the rows of a route, one for each verb of a map, refuses those noted before, and returns the bytes of their paths. */
function declareRows(
  route: ScopeConfig["routes"][number],
  prefix: ReadPrefix,
  at: string,
  declared: Map<string, string>,
  report: Report,
): number {
  const path = joinPrefix(prefix?.text, route.path);
  const methods = Array.isArray(route.methods) ? route.methods : Object.keys(route.methods);
  for (const [index, method] of methods.entries()) {
    const key = `${method} ${path}`;
    const first = declared.get(key);
    if (first === undefined) declared.set(key, at);
    else {
      const here = Array.isArray(route.methods) ? `.methods[${index}]` : `.methods.${method}`;
      report.add(at + here, `${key} is declared already, at ${first}.`);
    }
  }
  return Array.isArray(route.methods) ? path.length : path.length * methods.length;
}
