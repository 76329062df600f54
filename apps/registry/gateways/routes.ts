import { Gateways } from "@ostiary/lib/contracts/registry-api";
import { noQuery } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { Elysia } from "elysia";
import { errors } from "../errors.ts";
import { listGateways } from "./queries.ts";

/** `GET /gateways`: who serves what was published (contract 3, Beyond the specification). */
export function gatewayRoutes(database: Database, routeStore: RouteStore) {
  return new Elysia({ name: "gateways", normalize: false }).get(
    "/gateways",
    async () => ({ gateways: await listGateways(database, routeStore) }),
    {
      query: noQuery,
      response: { 200: Gateways, ...errors() },
      detail: {
        operationId: "listGateways",
        tags: ["Gateways"],
        summary: "List the gateways that run",
        description:
          "With what each has loaded, and whether that is all that is published. Read from the route store: 503 while that is away. A gateway that died is listed for up to 15 seconds more.",
      },
    },
  );
}
