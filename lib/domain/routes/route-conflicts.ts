/** Shapes of paths: what decides which service owns a route (Gateway specification, Validation rule 11). */
import type { StoredServiceConfig } from "./schema.ts";
import { SCOPES } from "./schema.ts";

/** The path with every param written `{}`: two paths have one shape when only the names of params differ. */
export function routeShape(path: string): string {
  if (!path.includes("{")) return path;
  return path.replace(/\{[^{}/]*\}/g, "{}");
}

/** A method and a path that a service has. */
export interface OwnedRoute {
  readonly service: string;
  readonly method: string;
  readonly path: string;
}

/** A route of the incoming configuration that belongs to another service. */
export interface RouteConflict extends OwnedRoute {
  readonly owner: string;
  readonly owner_path: string;
}

/** Every method and path of a stored service, in the order of its rows. */
export function ownedRoutes(service: string, config: StoredServiceConfig): OwnedRoute[] {
  const owned: OwnedRoute[] = [];
  for (const scope of SCOPES) {
    for (const { path, methods } of config[scope]?.routes ?? []) {
      for (const method of methods) owned.push({ service, method, path });
    }
  }
  return owned;
}

/**
 * The routes of `incoming` that a different service owns, in the order of `incoming`. What `current` says of
 * an incoming service is about to be replaced and does not count. Between two incoming services the earlier
 * one is the owner. The time is linear in the number of routes.
 */
export function findRouteConflicts(
  incoming: ReadonlyMap<string, StoredServiceConfig>,
  current: Iterable<OwnedRoute>,
): RouteConflict[] {
  const owners = new Map<string, OwnedRoute>();
  for (const route of current) {
    if (!incoming.has(route.service)) owners.set(routeKey(route), route);
  }
  const conflicts: RouteConflict[] = [];
  for (const [service, config] of incoming) {
    for (const route of ownedRoutes(service, config)) {
      const key = routeKey(route);
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, route);
      else if (owner.service !== service) {
        conflicts.push({ ...route, owner: owner.service, owner_path: owner.path });
      }
    }
  }
  return conflicts;
}

/** What one service alone may have: a method and a shape. */
export function routeKey(route: Pick<OwnedRoute, "method" | "path">): string {
  return `${route.method} ${routeShape(route.path)}`;
}
