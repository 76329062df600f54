import type { Gateway, Gateways } from "@ostiary/lib/contracts/registry-api";
import { INSTANCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { hasOutstanding } from "../projection/sql.ts";
import { hasLoaded, readInstance } from "./gateway.ts";

/** The maximum number of gateways on one page. */
const PAGE_GATEWAYS = 100;

/**
 * Returns a page of the running gateways in the order of their ids, after `starting_after`. Reads the gateways
 * last, so a gateway that is reported as current serves everything that was committed before the call.
 */
export async function listGateways(
  database: Database,
  routeStore: Pick<RouteStore, "list" | "summarize">,
  starting_after: string | undefined,
): Promise<Gateways> {
  const isBehind = await hasOutstanding(database);
  const routes = await routeStore.summarize(ROUTES_PREFIX);
  const { entries } = await routeStore.list(INSTANCES_PREFIX);
  const gateways: Gateway[] = [];
  for (const entry of entries) {
    if (starting_after !== undefined && entry.key <= INSTANCES_PREFIX + starting_after) continue;
    const instance = readInstance(entry);
    if (instance === null) continue;
    if (gateways.length === PAGE_GATEWAYS) return { gateways, has_more: true };
    const current = !isBehind && instance.skipped.length === 0 && hasLoaded(instance, routes);
    gateways.push({ ...instance, current });
  }
  return { gateways, has_more: false };
}
