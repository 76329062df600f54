import { CurrentOperator, ListedOperators } from "@ostiary/lib/contracts/registry-api";
import { describeOperations } from "@ostiary/lib/openapi";
import { noQuery } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import { operatorOf } from "./access.ts";
import { type Operators, shownOperator } from "./operators.ts";

const operations = describeOperations({
  getOperator: [
    "Get the calling operator",
    "The operator whom the token stands for, and what that operator may write.",
  ],
  listOperators: [
    "List operators",
    "Returns all operators: what each may write, when it expires, and how it proves itself, by the number of its tokens or by the names of its claims. The list has no token, no hash, and no value of a claim.",
  ],
});

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
