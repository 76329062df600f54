import { InstanceId } from "@ostiary/lib/contracts/gateway-instance";
import { Gateways } from "@ostiary/lib/contracts/registry-api";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import { listGateways } from "./list-gateways.ts";
import { operations } from "./operation-texts.ts";

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
      detail: operations.listGateways,
    },
  );
}
