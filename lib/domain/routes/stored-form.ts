/**
 * Expands the written form to the stored form (RG-49): joins prefixes and turns a map of methods into one
 * stored route for each method. Expansion is idempotent.
 */
import type { ConfiguredBounds } from "./call-bounds.ts";
import {
  METHODS,
  type MethodConfig,
  type RouteConfig,
  SCOPES,
  type ServiceConfig,
  type StoredRoute,
  type StoredServiceConfig,
} from "./service-schema.ts";

/**
 * Returns the full path of a route. If `path` is `/`, returns the prefix without trailing slashes, or `/`
 * without a prefix.
 */
export function joinPrefix(prefix: string | undefined, path: string): string {
  const base = withoutTrailingSlashes(prefix ?? "");
  if (path !== "/") return base + path;
  return base === "" ? "/" : base;
}

/** Expands a valid service. Omitted fields stay omitted. */
export function expandService(config: ServiceConfig): StoredServiceConfig {
  const stored: StoredServiceConfig = { url: config.url, ...boundsOf(config) };
  if (config.openapi !== undefined) stored.openapi = config.openapi;
  if (config.rate_limits !== undefined) stored.rate_limits = config.rate_limits;
  if (config.tests !== undefined) stored.tests = config.tests;
  for (const scope of SCOPES) {
    const written = config[scope];
    if (written === undefined) continue;
    stored[scope] = { routes: written.routes.flatMap((route) => expandRoute(route, written.route_prefix)) };
  }
  return stored;
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
    ...boundsOf(route),
    methods,
    ...(required_labels !== undefined && { required_labels }),
    ...(rate_limit !== undefined && { rate_limit }),
    ...(audit !== undefined && { audit }),
  };
}

function boundsOf({ timeout_ms, max_body_bytes }: ConfiguredBounds): ConfiguredBounds {
  return {
    ...(timeout_ms !== undefined && { timeout_ms }),
    ...(max_body_bytes !== undefined && { max_body_bytes }),
  };
}

/** Removes trailing slashes in linear time. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "/") end--;
  return text.slice(0, end);
}

/** Counts the routes of a stored list. Each method of an item is one route. */
export function countRoutes(rows: readonly { readonly methods: readonly unknown[] }[]): number {
  return rows.reduce((sum, { methods }) => sum + methods.length, 0);
}
