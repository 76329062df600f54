import { InstanceId } from "@ostiary/lib/contracts/gateway-instance";
import { type Gateway, Gateways } from "@ostiary/lib/contracts/registry-api";
import { INSTANCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import { hasOutstanding } from "../projection/projection-sql.ts";
import { hasLoaded, readInstance } from "./gateway.ts";

const gatewaysQuery = Type.Object(
  {
    starting_after: Type.Optional({
      ...InstanceId,
      description: "The id of the last item of the previous page. The page begins after that item.",
      rule: "must be the id of the last gateway of the previous page",
    }),
  },
  { additionalProperties: false },
);

/** Serves `GET /gateways`, the running gateways and what each has loaded (RG-85). */
export function gatewayHandlers(database: Database, routeStore: RouteStore) {
  return new Elysia({ name: "gateways", normalize: false, tags: ["Gateways"] }).get(
    "/gateways",
    ({ query: { starting_after } }) => listGateways(database, routeStore, starting_after),
    {
      query: gatewaysQuery,
      response: { 200: Gateways, ...operatorErrors() },
      detail: {
        operationId: "listGateways",
        summary: "List the running gateways",
        description:
          "Each running gateway with the routes that it has loaded, and whether these are all published routes. 503 while the route store is unavailable. A gateway that died is listed for up to 15 seconds more. A page has at most 100 gateways.",
      },
    },
  );
}

/** The maximum number of gateways on one page. */
const PAGE_GATEWAYS = 100;

/**
 * Returns a page of the running gateways in the order of their ids, after `starting_after`. Reads the gateways
 * last, so a gateway that is reported as current serves everything that was committed before the call.
 */
async function listGateways(
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
