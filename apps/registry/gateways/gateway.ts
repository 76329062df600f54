import { GatewayInstance, INSTANCES_PREFIX, SKIPPED_SERVICES_MAX } from "@ostiary/lib/contracts/route-store";
import { parseJson } from "@ostiary/lib/domain/json";
import type { RouteEntry, RouteSummary } from "@ostiary/lib/runtime/stores/route-store";
import { Value } from "@sinclair/typebox/value";

/** What a gateway's entry says; null when it says nothing that can be read, or speaks for another gateway. */
export function readInstance({ key, value }: Pick<RouteEntry, "key" | "value">): GatewayInstance | null {
  let parsed: unknown;
  try {
    parsed = parseJson(value);
  } catch {
    return null;
  }
  if (!Value.Check(GatewayInstance, parsed) || INSTANCES_PREFIX + parsed.instance !== key) return null;
  // a later version may tell more
  return Value.Decode(GatewayInstance, Value.Clean(GatewayInstance, parsed));
}

/**
 * Whether a gateway has taken in all that `routes` summarizes, deletions included. The gateway takes in changes in
 * their order. Once it is as far as the newest of the entries it has all of these; what it may have beside them
 * are entries that were deleted later, and then it has more than there are.
 */
export function hasLoaded(instance: GatewayInstance, routes: RouteSummary): boolean {
  const { store_revision, services, skipped } = instance;
  if (store_revision > routes.revision) return true;
  return store_revision >= routes.newest && services + skipped.length === routes.count;
}

/** Whether it has taken in `routes` and serves what they say of `services`: of what it left out it serves nothing. */
export function serves(
  instance: GatewayInstance,
  routes: RouteSummary,
  services: ReadonlySet<string>,
): boolean {
  const { skipped } = instance;
  // from a full list nothing follows about what is not on it
  if (skipped.length >= SKIPPED_SERVICES_MAX) return false;
  return hasLoaded(instance, routes) && !skipped.some(({ service }) => services.has(service));
}
