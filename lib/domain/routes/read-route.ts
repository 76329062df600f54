/** Reads one route: path, upstream, methods in either form (Gateway specification, RouteConfig, rules 2-4, 6, 8). */
import { isRecord } from "../json/index.ts";
import { type Prefix, paramNames, pathFaults } from "./path.ts";
import { CONSTRAINTS, type RouteContext, readConstraints } from "./read-constraints.ts";
import { list, memberPath, quoted, refuseUnknown } from "./report.ts";
import { METHODS, type Method, MethodConfig, type MethodMap, RouteConfig } from "./schema.ts";
import { upstreamFaults } from "./upstream.ts";

/** The prefix of a scope: undefined where there is none, null where what was written is wrong by itself. */
export type ReadPrefix = Prefix | undefined | null;

/** Reads one route and reports all that is wrong with it. The result is complete when nothing was reported. */
export function readRoute(
  value: unknown,
  prefix: ReadPrefix,
  at: string,
  context: RouteContext,
): RouteConfig | undefined {
  const { report } = context;
  if (!isRecord(value)) {
    report.add(at, "A route is an object with path and methods.");
    return undefined;
  }
  refuseUnknown(value, Object.keys(RouteConfig.properties), "A route", at, report);
  const path = readPath(value.path, prefix ?? undefined, memberPath(at, "path"), context);
  const params =
    path === undefined || prefix === null ? null : [...(prefix?.params ?? []), ...paramNames(path)];
  const upstream = readUpstream(value.upstream, params, memberPath(at, "upstream"), context);
  const methods = readMethods(value.methods, memberPath(at, "methods"), context);
  if (isRecord(value.methods)) refuseRouteConstraints(value, at, context);
  const constraints = isRecord(value.methods) ? {} : readConstraints(value, at, context);
  if (path === undefined || methods === undefined) return undefined;
  return { path, ...(upstream !== undefined && { upstream }), methods, ...constraints };
}

function readPath(
  value: unknown,
  prefix: Prefix | undefined,
  at: string,
  { scope, report }: RouteContext,
): string | undefined {
  if (typeof value !== "string" || !value.startsWith("/")) {
    const missing = value === undefined ? "Set path: " : "";
    report.add(at, `${missing}A path is \`/\` or starts with \`/\`, such as \`/widgets/{widget_id}\`.`);
    return undefined;
  }
  const faults = pathFaults(value, scope, prefix);
  for (const fault of faults) report.add(at, fault);
  return faults.length === 0 ? value : undefined;
}

/** @param params the params of the full path, or null when the path itself is wrong */
function readUpstream(
  value: unknown,
  params: readonly string[] | null,
  at: string,
  { scope, report }: RouteContext,
): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") {
    report.add(at, "upstream is an absolute path; leave it out to pass the request's path on unchanged.");
    return undefined;
  }
  const faults = upstreamFaults(value, scope, params);
  for (const fault of faults) report.add(at, fault);
  return faults.length === 0 ? value : undefined;
}

function readMethods(value: unknown, at: string, context: RouteContext): RouteConfig["methods"] | undefined {
  if (Array.isArray(value)) return readMethodList(value, at, context);
  if (isRecord(value) && context.allowMethodMap) return readMethodMap(value, at, context);
  const forms = context.allowMethodMap ? "a list of methods, or a map of them" : "a list of methods";
  context.report.add(at, `${value === undefined ? "Set methods: " : "methods is "}${forms}.`);
  return undefined;
}

function readMethodList(value: readonly unknown[], at: string, { report }: RouteContext): Method[] {
  if (value.length === 0) report.add(at, `methods names at least one of ${list(METHODS)}.`);
  const methods: Method[] = [];
  for (const [index, item] of value.entries()) {
    if (report.isFull) break;
    const method = typeof item === "string" ? METHODS.find((known) => known === item) : undefined;
    if (method === undefined) report.add(`${at}[${index}]`, methodMessage(item));
    else if (methods.includes(method)) report.add(`${at}[${index}]`, `${method} is listed twice.`);
    else methods.push(method);
  }
  return methods;
}

function readMethodMap(
  value: Readonly<Record<string, unknown>>,
  at: string,
  context: RouteContext,
): MethodMap {
  const keys = Object.keys(value);
  if (keys.length === 0) context.report.add(at, `methods names at least one of ${list(METHODS)}.`);
  const map: MethodMap = {};
  for (const key of keys) {
    if (context.report.isFull) break;
    const method = METHODS.find((known) => known === key);
    if (method === undefined) context.report.add(memberPath(at, key), methodMessage(key));
    else map[method] = readMethodConfig(value[key], memberPath(at, key), context);
  }
  return map;
}

function readMethodConfig(value: unknown, at: string, context: RouteContext): MethodConfig {
  if (value === null) return {};
  if (!isRecord(value)) {
    context.report.add(at, `A method of a map takes ${list(CONSTRAINTS)}, or nothing.`);
    return {};
  }
  refuseUnknown(value, Object.keys(MethodConfig.properties), "A method of a map", at, context.report);
  return readConstraints(value, at, context);
}

function refuseRouteConstraints(
  value: Readonly<Record<string, unknown>>,
  at: string,
  { report }: RouteContext,
): void {
  for (const field of CONSTRAINTS) {
    if (value[field] !== undefined) {
      report.add(
        memberPath(at, field),
        `With methods as a map, ${field} stands under each method: move it there, or write methods as a list.`,
      );
    }
  }
}

function methodMessage(item: unknown): string {
  if (isRecord(item)) {
    return "A list of methods holds names only: write all methods as a map to give one its own fields.";
  }
  const upper = typeof item === "string" ? item.toUpperCase() : "";
  if (METHODS.some((method) => method === upper)) return `Write the method in upper case: ${quoted(upper)}.`;
  return `A method is one of ${list(METHODS)}.`;
}
