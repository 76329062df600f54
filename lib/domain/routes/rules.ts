/**
 * The rules that join fields (Gateway specification, Validation rules 2 to 9), over a service of which any part
 * may be missing: what does not fit its schema has been reported and taken out.
 */
import { type Faults, type FieldPath, joinWords, type Partly, quoted, shownPath } from "../errors/index.ts";
import { joinPrefix } from "./expand.ts";
import { CONSTRAINTS, METHODS, SCOPES, type Scope } from "./keywords.ts";
import { SERVICE_CONFIG_BYTES_MAX } from "./limits.ts";
import { noPolicyMessage, SERVICE_TOO_LARGE } from "./messages.ts";
import { type Prefix, paramNames, pathFaults } from "./path.ts";
import type { MethodConfig, RouteConfig, ScopeConfig, ServiceConfig } from "./schema.ts";
import { documentPathFault, urlFault } from "./service-url.ts";
import { upstreamFaults } from "./upstream.ts";

/** What the rules of a route need to know of the scope and the service around it. */
interface Context {
  readonly faults: Faults;
  /** Where the service stands in the input. */
  readonly service: FieldPath;
  readonly scope: Scope;
  /** The prefix of the scope: undefined where there is none, null where what was written is wrong by itself. */
  readonly prefix: Prefix | undefined | null;
  /** The names under the service's rate_limits, also of policies that are themselves wrong. */
  readonly policyNames: ReadonlySet<string>;
  /** Where each method and full path stands first. */
  readonly declared: Map<string, FieldPath>;
  /** What the service's rows have in full paths so far: a long prefix makes much of little. */
  readonly expanded: { path_bytes: number };
}

/**
 * Adds what is wrong with a service to `faults`, each rule on the full paths. Thousands of routes take a while, so
 * each is a step.
 *
 * @param at where the service stands in the input; paths of faults begin below
 */
export function* checkRules(
  service: Partly<ServiceConfig>,
  at: FieldPath,
  faults: Faults,
): Generator<void, void> {
  const urlMessage = service.url === undefined ? null : urlFault(service.url);
  if (urlMessage !== null) faults.add(["url"], urlMessage);
  const documentMessage = service.openapi === undefined ? null : documentPathFault(service.openapi);
  if (documentMessage !== null) faults.add(["openapi"], documentMessage);
  const policyNames = new Set(Object.keys(service.rate_limits ?? {}));
  const declared = new Map<string, FieldPath>();
  const expanded = { path_bytes: 0 };
  for (const scope of SCOPES) {
    const config = service[scope];
    if (config === undefined) continue;
    const prefix = readPrefix(config, scope, faults);
    // below a prefix that is not known, paths can be compared with each other only
    const comparable = prefix === null ? new Map<string, FieldPath>() : declared;
    const context = { faults, service: at, scope, prefix, policyNames, declared: comparable, expanded };
    yield* checkRoutes(config.routes ?? [], context);
  }
  if (expanded.path_bytes > SERVICE_CONFIG_BYTES_MAX) faults.add([], SERVICE_TOO_LARGE);
  if (!SCOPES.some((scope) => scope in service)) {
    faults.add([], `A service has at least one scope: ${joinWords(SCOPES)}.`);
  }
}

/** A prefix that is wrong by itself is reported once and null, so that its routes show their own faults only. */
function readPrefix(config: Partly<ScopeConfig>, scope: Scope, faults: Faults): Context["prefix"] {
  const { route_prefix } = config;
  if (route_prefix === undefined) return "route_prefix" in config ? null : undefined;
  if (route_prefix === "") return undefined;
  const path = joinPrefix(route_prefix, "/");
  const isWrong = addAll(pathFaults(path, scope), [scope, "route_prefix"], faults);
  return isWrong ? null : { text: route_prefix, params: paramNames(path) };
}

function* checkRoutes(
  routes: readonly (Partly<RouteConfig> | undefined)[],
  context: Context,
): Generator<void, void> {
  for (const [index, route] of routes.entries()) {
    if (context.faults.isFull || context.expanded.path_bytes > SERVICE_CONFIG_BYTES_MAX) return;
    if (route !== undefined) checkRoute(route, [context.scope, "routes", index], context);
    yield;
  }
}

function checkRoute(route: Partly<RouteConfig>, at: FieldPath, context: Context): void {
  const { scope, prefix, faults } = context;
  const { upstream, methods } = route;
  const path = checkPath(route.path, [...at, "path"], context);
  if (upstream !== undefined) {
    const params = path === null || prefix === null ? null : [...(prefix?.params ?? []), ...paramNames(path)];
    addAll(upstreamFaults(upstream, scope, params), [...at, "upstream"], faults);
  }
  if (methods !== undefined) declareRows(path, methods, at, context);
  if (methods === undefined || Array.isArray(methods)) {
    checkConstraints(route, at, context);
    return;
  }
  for (const field of CONSTRAINTS.filter((field) => field in route)) {
    faults.add(
      [...at, field],
      `With methods as a map, ${field} stands under each method: move it there, or write methods as a list.`,
    );
  }
  for (const method of METHODS) checkConstraints(methods[method] ?? {}, [...at, "methods", method], context);
}

/** The path of a route where it is a good one. */
function checkPath(
  path: string | undefined,
  at: FieldPath,
  { scope, prefix, faults }: Context,
): string | null {
  if (path === undefined || addAll(pathFaults(path, scope, prefix ?? undefined), at, faults)) return null;
  return path;
}

/** Notes the rows of a route, one for each verb of a map, and refuses those noted before. */
function declareRows(
  path: string | null,
  methods: NonNullable<Partly<RouteConfig>["methods"]>,
  at: FieldPath,
  context: Context,
): void {
  const full = path === null ? null : joinPrefix(context.prefix?.text, path);
  const declared = full === null ? new Map<string, FieldPath>() : context.declared;
  const isList = Array.isArray(methods);
  const names = isList ? methods : METHODS.filter((method) => methods[method] !== undefined);
  for (const [index, method] of names.entries()) {
    if (method === undefined) continue;
    if (context.faults.isFull) return;
    const key = `${method} ${full}`;
    const first = declared.get(key);
    if (first === undefined) declared.set(key, at);
    else {
      const told =
        first === at
          ? `${method} is listed twice.`
          : `${key} is declared already, at ${shownPath([...context.service, ...first])}.`;
      context.faults.add([...at, "methods", isList ? index : method], told);
    }
  }
  context.expanded.path_bytes += (full?.length ?? 0) * (isList ? 1 : names.length);
}

/** What may be set for one verb, or for all of a route with a list of them. */
function checkConstraints(config: Partly<MethodConfig>, at: FieldPath, context: Context): void {
  const { scope, policyNames, faults } = context;
  const { required_labels = [], rate_limit } = config;
  for (const [index, label] of required_labels.entries()) {
    if (label === undefined || required_labels.indexOf(label) === index) continue;
    faults.add([...at, "required_labels", index], `The label ${quoted(label)} is listed twice.`);
  }
  if (typeof rate_limit === "string" && !policyNames.has(rate_limit)) {
    faults.add([...at, "rate_limit"], noPolicyMessage(rate_limit));
  }
  if (scope === "public" && "audit" in config) {
    faults.add([...at, "audit"], "Public routes are never audited: leave audit out.");
  }
}

/** Whether there are any. */
function addAll(messages: readonly string[], at: FieldPath, faults: Faults): boolean {
  for (const message of messages) faults.add(at, message);
  return messages.length > 0;
}
