import type { Gateway } from "@ostiary/lib/contracts/registry-api";
import { INSTANCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { hasOutstanding } from "../projection/queries.ts";
import { isOneOf } from "../publishing/queries.ts";
import { services } from "../tables.ts";
import { hasLoaded, readInstance } from "./gateway.ts";

/**
 * The gateways that run, in the order of their ids. What they have is looked at last, so a gateway that is current
 * serves at least all that was committed when this was asked.
 */
export async function listGateways(
  database: Database,
  routeStore: Pick<RouteStore, "list" | "summarize">,
): Promise<Gateway[]> {
  const isBehind = await hasOutstanding(database);
  const routes = await routeStore.summarize(ROUTES_PREFIX);
  const { entries } = await routeStore.list(INSTANCES_PREFIX);
  return entries.flatMap((entry) => {
    const instance = readInstance(entry);
    if (instance === null) return [];
    const current = !isBehind && instance.skipped.length === 0 && hasLoaded(instance, routes);
    return [{ ...instance, current }];
  });
}

/** Of each of `names` the fence that the route store is known to hold; none is there before the first. */
export async function readProjectedFences(
  database: Database,
  names: readonly string[],
): Promise<Map<string, number>> {
  const found = await database.run("select_projected", (orm) =>
    orm
      .select({ name: services.name, projected_fence: services.projected_fence })
      .from(services)
      .where(isOneOf(services.name, names)),
  );
  return new Map(found.map(({ name, projected_fence }) => [name, projected_fence ?? 0]));
}
