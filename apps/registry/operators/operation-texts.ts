import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations({
  getOperator: [
    "Get the calling operator",
    "The operator whom the token stands for, and what that operator may write.",
  ],
  listOperators: [
    "List operators",
    "Returns all operators: what each may write, when it expires, and how it proves itself, by the number of its tokens or by the names of its claims. The list has no token, no hash, and no value of a claim.",
  ],
});
