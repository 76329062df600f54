import { Projections } from "@ostiary/lib/contracts/registry-api";
import { noQuery } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import { operations } from "./operation-texts.ts";
import type { ProjectionLag } from "./projection-lag.ts";

/** Serves `GET /projections`, the outstanding projections. */
export function projectionHandlers(lag: ProjectionLag) {
  return new Elysia({ name: "projections", normalize: false, tags: ["Gateways"] }).get(
    "/projections",
    async () => ({ outstanding: await lag.list() }),
    {
      query: noQuery,
      response: { 200: Projections, ...operatorErrors() },
      detail: operations.listProjections,
    },
  );
}
