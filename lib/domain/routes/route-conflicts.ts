/**
 * Finds routes that two services claim. Routes conflict if their methods and path shapes are equal (RG-28).
 */
import { foldedSegment } from "./folded-segment.ts";
import { segmentsOf } from "./route-path.ts";
import type { StoredServiceConfig } from "./service-schema.ts";
import { SCOPES } from "./service-schema.ts";

/**
 * Returns the path with every param as `{}` and every literal in its folded form. Paths that differ only in
 * param names, or only in the spelling of literals, have the same shape.
 */
export function routeShape(path: string): string {
  const segments = segmentsOf(path).map((segment) =>
    "param" in segment ? "{}" : foldedSegment(segment.literal),
  );
  return `/${segments.join("/")}`;
}

/** Returns the path with every param as `{}`. Paths that differ only in param names match the same requests. */
export function withoutParamNames(path: string): string {
  return path.replace(/\{[^{}/]*\}/g, "{}");
}

export interface OwnedRoute {
  readonly service: string;
  readonly method: string;
  readonly path: string;
}

/** A route that a write claims for `service`, although another service owns the route. */
export interface RouteConflict extends OwnedRoute {
  readonly owner: string;
  readonly owner_path: string;
}

export function ownedRoutes(service: string, config: StoredServiceConfig): OwnedRoute[] {
  return SCOPES.flatMap((scope) => config[scope]?.routes ?? []).flatMap(({ path, methods }) =>
    methods.map((method) => ({ service, method, path })),
  );
}

/**
 * Returns the routes of `incoming` that another service owns. `incoming` has the services that are being
 * written. The result has the order of `incoming`. Ignores services of `current` that are also in `incoming`,
 * because the write replaces them. If two services of `incoming` have the same route, the earlier service is
 * the owner. Takes linear time.
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

/** Returns a sentence about a conflict, without the period at its end. */
export function conflictText({ method, path, owner, owner_path }: RouteConflict): string {
  const as = owner_path === path ? "" : ` as ${owner_path}`;
  return `${method} ${path} belongs to service ${owner}${as}`;
}

/** Returns the method and shape of a route, which only one service can own. */
export function routeKey(route: Pick<OwnedRoute, "method" | "path">): string {
  return `${route.method} ${routeShape(route.path)}`;
}
