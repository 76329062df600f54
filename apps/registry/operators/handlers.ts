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
      const { name, role, services, paths, urls } = operatorOf(request);
      const listOf = (bounds: readonly string[] | null) => bounds && [...bounds];
      return { name, role, services: listOf(services), paths: listOf(paths), urls: listOf(urls) };
    },
    {
      query: noQuery,
      response: { 200: CurrentOperator, ...operatorErrors() },
      detail: operations.getOperator,
    },
  );
}
