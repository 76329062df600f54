import { CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import { noQuery } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import { operatorOf } from "./access.ts";
import { operations } from "./operation-texts.ts";

/** Serves `GET /operator`, which returns the calling operator (RG-115). */
export function operatorHandlers() {
  return new Elysia({ name: "operators", normalize: false, tags: ["Operators"] }).get(
    "/operator",
    ({ request }) => {
      const { name, role, services, paths } = operatorOf(request);
      return {
        name,
        role,
        services: services === null ? null : [...services],
        paths: paths === null ? null : [...paths],
      };
    },
    {
      query: noQuery,
      response: { 200: CurrentOperator, ...operatorErrors() },
      detail: operations.getOperator,
    },
  );
}
