import { Projections } from "@ostiary/lib/contracts/registry-api";
import { noQuery } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { errors } from "../errors.ts";
import type { ProjectionLag } from "./lag.ts";

/** `GET /projections`: what was written and is not known to be in the route store. */
export function projectionRoutes(lag: ProjectionLag) {
  return new Elysia({ name: "projections", normalize: false }).get(
    "/projections",
    async () => ({ outstanding: await lag.list() }),
    {
      query: noQuery,
      response: { 200: Projections, ...errors() },
      detail: {
        operationId: "listProjections",
        tags: ["Gateways"],
        summary: "List the outstanding projections",
        description:
          "The services whose newest revision is committed and not known to be in the route store, from where gateways read it, and for how long. Read from the database alone, so it is answered while the route store is away. Usually empty: what is listed for many seconds says that the route store takes no keys.",
      },
    },
  );
}
