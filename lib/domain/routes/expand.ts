/**
 * From the written to the stored form (Gateway specification, Stored projection): prefixes are joined and a
 * map of methods becomes one row per verb. Expanding what is expanded changes nothing.
 */
import {
  METHODS,
  type MethodConfig,
  type RouteConfig,
  SCOPES,
  type ScopeConfig,
  type ServiceConfig,
  type StoredRoute,
  type StoredScope,
  type StoredServiceConfig,
} from "./schema.ts";

/** The full path of a route. A prefix without its trailing slashes is what the path `/` stands for. */
export function joinPrefix(prefix: string | undefined, path: string): string {
  const base = withoutTrailingSlashes(prefix ?? "");
  if (path !== "/") return base + path;
  return base === "" ? "/" : base;
}

/** Expands a valid service. Only what was written is carried over: an omitted field stays omitted. */
export function expandService(config: ServiceConfig): StoredServiceConfig {
  const stored: StoredServiceConfig = { url: config.url };
  if (config.openapi !== undefined) stored.openapi = config.openapi;
  if (config.rate_limits !== undefined) stored.rate_limits = config.rate_limits;
  for (const scope of SCOPES) {
    const written = config[scope];
    if (written !== undefined) stored[scope] = expandScope(written);
  }
  return stored;
}

function expandScope(scope: ScopeConfig): StoredScope {
  return { routes: scope.routes.flatMap((route) => expandRoute(route, scope.route_prefix)) };
}

function expandRoute(route: RouteConfig, prefix: string | undefined): StoredRoute[] {
  const path = joinPrefix(prefix, route.path);
  const { methods } = route;
  if (Array.isArray(methods)) return [row(route, path, methods, route)];
  return METHODS.filter((method) => methods[method] !== undefined).map((method) =>
    row(route, path, [method], methods[method] ?? {}),
  );
}

function row(
  route: RouteConfig,
  path: string,
  methods: StoredRoute["methods"],
  constraints: MethodConfig,
): StoredRoute {
  const { required_labels, rate_limit, audit } = constraints;
  return {
    path,
    ...(route.upstream !== undefined && { upstream: route.upstream }),
    methods,
    ...(required_labels !== undefined && { required_labels }),
    ...(rate_limit !== undefined && { rate_limit }),
    ...(audit !== undefined && { audit }),
  };
}

/** A path or an address to which more is to be added, in time that grows no faster than its length. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "/") end--;
  return text.slice(0, end);
}
