import { CurrentOperator, ListedOperators } from "@ostiary/lib/contracts/registry-api";
import { noQuery } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import { operatorOf } from "./access.ts";
import { operations } from "./operation-texts.ts";
import { type Operators, shownOperator } from "./operators.ts";

/** Serves the calling operator (RG-115) and the list of all operators (RG-174). */
export function operatorHandlers(operators: Pick<Operators, "list">) {
  return new Elysia({ name: "operators", normalize: false, tags: ["Operators"] })
    .get("/operator", ({ request }) => shownOperator(operatorOf(request)), {
      query: noQuery,
      response: { 200: CurrentOperator, ...operatorErrors() },
      detail: operations.getOperator,
    })
    .get("/operators", () => ({ operators: operators.list() }), {
      query: noQuery,
      response: { 200: ListedOperators, ...operatorErrors() },
      detail: operations.listOperators,
    });
}
