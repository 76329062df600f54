/**
 * Checks the rules between the fields of a service (RG-8 to RG-27). Any part of the service may be missing,
 * because the caller has reported and removed the parts that do not match the schema.
 */
import {
  type FieldPath,
  joinWords,
  type Partly,
  quoted,
  shownPath,
  type Violations,
} from "../errors/index.ts";
import { checkLimit, checkRouteLimit, type Policies } from "./limit-rules.ts";
import { SERVICE_CONFIG_BYTES_MAX } from "./maximum-sizes.ts";
import { CONSTRAINTS, METHODS, SCOPES, type Scope } from "./methods-and-scopes.ts";
import { type Prefix, paramNames, pathViolations } from "./route-path.ts";
import { checkTests } from "./route-test-rules.ts";
import { SERVICE_TOO_LARGE } from "./schema-messages.ts";
import type { MethodConfig, RouteConfig, ScopeConfig, ServiceConfig } from "./service-schema.ts";
import { descriptionPathViolation, urlViolation } from "./service-url.ts";
import { joinPrefix } from "./stored-form.ts";
import { upstreamViolations } from "./upstream-template.ts";

/** The context of the rules of a route: its scope and its service. */
interface Context {
  readonly violations: Violations;
  readonly service: FieldPath;
  readonly scope: Scope;
  /** The prefix of the scope; undefined without a prefix, null if the prefix is invalid. */
  readonly prefix: Prefix | undefined | null;
  /** The service's policies by name; undefined for an invalid policy. */
  readonly policies: Policies;
  /** For each method and full path, the path in the input of the first route that declares them. */
  readonly declared: Map<string, FieldPath>;
  /**
   * The total bytes of the full paths so far. A long prefix can expand a short document to a large service.
   */
  readonly expanded: { pathBytes: number };
}

/**
 * Adds the problems of a service to `violations`, with paths relative to the service. Rules about paths apply
 * to full paths. Yields after each route, because thousands of routes take time.
 *
 * @param at the path of the service in the input, for messages that name another field
 */
export function* checkRules(
  service: Partly<ServiceConfig>,
  at: FieldPath,
  violations: Violations,
): Generator<void, void> {
  const urlMessage = service.url === undefined ? null : urlViolation(service.url);
  if (urlMessage !== null) violations.add(["url"], urlMessage);
  const descriptionMessage = service.openapi === undefined ? null : descriptionPathViolation(service.openapi);
  if (descriptionMessage !== null) violations.add(["openapi"], descriptionMessage);
  const policies = new Map(Object.entries(service.rate_limits ?? {}));
  for (const [name, policy] of policies) {
    if (policy !== undefined) checkLimit(policy, ["rate_limits", name], violations);
  }
  const declared = new Map<string, FieldPath>();
  const expanded = { pathBytes: 0 };
  for (const scope of SCOPES) {
    const config = service[scope];
    if (config === undefined) continue;
    const prefix = readPrefix(config, scope, violations);
    // If the prefix is invalid, the full paths of this scope are unknown. Compare them only with each other.
    const comparable = prefix === null ? new Map<string, FieldPath>() : declared;
    const context = { violations, service: at, scope, prefix, policies, declared: comparable, expanded };
    yield* checkRoutes(config.routes ?? [], context);
  }
  if (service.tests !== undefined) checkTests(service.tests, ["tests"], violations);
  if (expanded.pathBytes > SERVICE_CONFIG_BYTES_MAX) violations.add([], SERVICE_TOO_LARGE);
  if (!SCOPES.some((scope) => scope in service)) {
    violations.add([], `A service must have at least one scope: ${joinWords(SCOPES, "or")}.`);
  }
}

/**
 * Returns the prefix of a scope, or undefined if the scope has none. Reports an invalid prefix once and
 * returns null for it, so that the routes of the scope do not report it again.
 */
function readPrefix(config: Partly<ScopeConfig>, scope: Scope, violations: Violations): Context["prefix"] {
  const { route_prefix } = config;
  if (route_prefix === undefined) return "route_prefix" in config ? null : undefined;
  if (route_prefix === "") return undefined;
  const path = joinPrefix(route_prefix, "/");
  const isWrong = addAll(pathViolations(path, scope), [scope, "route_prefix"], violations);
  return isWrong ? null : { text: route_prefix, params: paramNames(path) };
}

function* checkRoutes(
  routes: readonly (Partly<RouteConfig> | undefined)[],
  context: Context,
): Generator<void, void> {
  for (const [index, route] of routes.entries()) {
    if (context.violations.isFull || context.expanded.pathBytes > SERVICE_CONFIG_BYTES_MAX) return;
    if (route !== undefined) checkRoute(route, [context.scope, "routes", index], context);
    yield;
  }
}

function checkRoute(route: Partly<RouteConfig>, at: FieldPath, context: Context): void {
  const { scope, prefix, violations } = context;
  const { upstream, methods } = route;
  const found = route.path === undefined ? [] : pathViolations(route.path, scope, prefix ?? undefined);
  const path = addAll(found, [...at, "path"], violations) ? null : (route.path ?? null);
  if (upstream !== undefined) {
    const params = path === null || prefix === null ? null : [...(prefix?.params ?? []), ...paramNames(path)];
    addAll(upstreamViolations(upstream, scope, params), [...at, "upstream"], violations);
  }
  if (methods !== undefined) declareRows(path, methods, at, context);
  if (methods === undefined || Array.isArray(methods)) {
    checkConstraints(route, at, context);
    return;
  }
  for (const field of CONSTRAINTS.filter((field) => field in route)) {
    violations.add(
      [...at, field],
      `With methods as a map, ${field} belongs under each method: move it there, or write methods as a list.`,
    );
  }
  for (const method of METHODS) checkConstraints(methods[method] ?? {}, [...at, "methods", method], context);
}

/** Records the methods of a route with its full path, and reports duplicates. */
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
    if (context.violations.isFull) return;
    const key = `${method} ${full}`;
    const first = declared.get(key);
    if (first === undefined) declared.set(key, at);
    else {
      const message =
        first === at
          ? `${method} is listed twice.`
          : `${key} is declared already, at ${shownPath([...context.service, ...first])}.`;
      context.violations.add([...at, "methods", isList ? index : method], message);
    }
  }
  context.expanded.pathBytes += (full?.length ?? 0) * (isList ? 1 : names.length);
}

/** Checks the settings of one method, or of a whole route with a list of methods. */
function checkConstraints(config: Partly<MethodConfig>, at: FieldPath, context: Context): void {
  const { scope, violations } = context;
  const { required_labels = [], rate_limit } = config;
  for (const [index, label] of required_labels.entries()) {
    if (label === undefined || required_labels.indexOf(label) === index) continue;
    violations.add([...at, "required_labels", index], `The label ${quoted(label)} is listed twice.`);
  }
  if (rate_limit !== undefined && rate_limit !== false) {
    checkRouteLimit(rate_limit, [...at, "rate_limit"], context);
  }
  if (scope === "public" && "audit" in config) {
    violations.add([...at, "audit"], "Public routes are never audited: leave audit out.");
  }
}

/** Adds a violation for each message. Returns whether there are any messages. */
function addAll(messages: readonly string[], at: FieldPath, violations: Violations): boolean {
  for (const message of messages) violations.add(at, message);
  return messages.length > 0;
}
