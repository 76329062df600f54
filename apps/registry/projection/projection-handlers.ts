import { Projections } from "@ostiary/lib/contracts/registry-api";
import { noQuery } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import { listLateServices } from "./projection-sql.ts";

/** Serves `GET /projections`, the outstanding projections. */
export function projectionHandlers(database: Database) {
  return new Elysia({ name: "projections", normalize: false, tags: ["Gateways"] }).get(
    "/projections",
    async () => ({ outstanding: await listLateServices(database) }),
    {
      query: noQuery,
      response: { 200: Projections, ...operatorErrors() },
      detail: {
        operationId: "listProjections",
        summary: "List the outstanding projections",
        description:
          "The services whose newest revision may be missing from the route store, which gateways read, and for how long. The operation reads only the database, so it works while the route store is unavailable. The list is usually empty: an entry that stays for many seconds shows that the route store accepts no writes.",
      },
    },
  );
}
