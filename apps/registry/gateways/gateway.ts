import {
  GatewayInstance,
  INSTANCE_LENGTH_MAX,
  SKIPPED_SERVICES_MAX,
  skippedService,
} from "@ostiary/lib/contracts/gateway-instance";
import { INSTANCES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { tryJson } from "@ostiary/lib/domain/json";
import type { RouteEntry, RouteSummary } from "@ostiary/lib/runtime/stores/route-store";
import { Value } from "@sinclair/typebox/value";

/**
 * Parses a gateway's entry. Returns null for an entry that is too long, not valid, or under another gateway's
 * key.
 */
export function readInstance({ key, value }: Pick<RouteEntry, "key" | "value">): GatewayInstance | null {
  if (value.length > INSTANCE_LENGTH_MAX) return null;
  const parsed = tryJson(value);
  if (!Value.Check(GatewayInstance, parsed) || INSTANCES_PREFIX + parsed.instance !== key) return null;
  // the entry of a gateway with a later version of Ostiary may have more fields
  const instance = Value.Decode(GatewayInstance, Value.Clean(GatewayInstance, parsed));
  const skipped = instance.skipped.map(({ service, reason }) => skippedService(service, reason));
  return { ...instance, skipped };
}

/**
 * Tells whether a gateway has loaded all entries that `routes` summarizes, deletions included. Gateways apply
 * changes in order, so a gateway that has reached the newest entry has all entries. A gateway that has not loaded a
 * deletion yet counts too many services.
 */
export function hasLoaded(instance: GatewayInstance, routes: RouteSummary): boolean {
  const { store_revision, services, skipped } = instance;
  if (store_revision > routes.revision) return true;
  return store_revision >= routes.newest && services + skipped.length === routes.count;
}

/**
 * Tells whether a gateway has loaded `routes` and skipped none of `services`. A gateway serves nothing of
 * a service that it skipped.
 */
export function serves(
  instance: GatewayInstance,
  routes: RouteSummary,
  services: ReadonlySet<string>,
): boolean {
  const { skipped } = instance;
  // a list of maximum length may be truncated, so the gateway may have skipped a service that is not listed
  if (skipped.length >= SKIPPED_SERVICES_MAX) return false;
  return hasLoaded(instance, routes) && !skipped.some(({ service }) => services.has(service));
}
