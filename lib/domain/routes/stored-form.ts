/**
 * Expands the written form to the stored form (RG-49): joins prefixes and turns a map of methods into one
 * stored route for each method. Expansion is idempotent.
 */
import {
  METHODS,
  type Method,
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
  const { public: _, user, organization, member, ...settings } = config;
  const stored: StoredServiceConfig = settings;
  for (const scope of SCOPES) {
    const written = config[scope];
    if (written === undefined) continue;
    stored[scope] = { routes: written.routes.flatMap((route) => expandRoute(route, written.route_prefix)) };
  }
  return stored;
}

function expandRoute(route: RouteConfig, prefix: string | undefined): StoredRoute[] {
  const { methods } = route;
  const row = { ...route, path: joinPrefix(prefix, route.path) };
  if (Array.isArray(methods)) return [{ ...row, methods }];
  return methodsOf(route).map((method) => ({ ...row, methods: [method], ...methods[method] }));
}

/** Returns the methods that a route names, in a list or as the keys of a map. */
export function methodsOf({ methods }: Pick<RouteConfig, "methods">): Method[] {
  return Array.isArray(methods) ? methods : METHODS.filter((method) => methods[method] !== undefined);
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
