import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations({
  getOperator: [
    "Get the calling operator",
    "The operator whom the token stands for, and what that operator may write.",
  ],
});
