/** The schemas of names that occur in several parts of a document. */
import { Type } from "@sinclair/typebox";
import { PLAN_NAME_LENGTH_MAX, SERVICE_NAME_LENGTH_MAX } from "./maximum-sizes.ts";
import { messages } from "./schema-messages.ts";

export const ServiceName = Type.String({
  pattern: `^[A-Za-z0-9._-]{1,${SERVICE_NAME_LENGTH_MAX}}$`,
  minLength: 1,
  maxLength: SERVICE_NAME_LENGTH_MAX,
  message: messages.service_name,
  description: "Letters, digits, `.`, `_` and `-`.",
  examples: ["widgets"],
});

// The methods are listed one by one, because Elysia's types lose the members of a union that is built with
// `map`.
export const MethodName = Type.Union(
  [
    Type.Literal("GET"),
    Type.Literal("POST"),
    Type.Literal("PUT"),
    Type.Literal("PATCH"),
    Type.Literal("DELETE"),
    Type.Literal("HEAD"),
    Type.Literal("OPTIONS"),
  ],
  { title: "Method", description: "An HTTP method, in upper case.", message: messages.method },
);

export const PlanName = Type.String({
  pattern: `^[a-z0-9:._-]{1,${PLAN_NAME_LENGTH_MAX}}$`,
  minLength: 1,
  maxLength: PLAN_NAME_LENGTH_MAX,
  rule: `must be 1 to ${PLAN_NAME_LENGTH_MAX} lower-case letters, digits, \`:\`, \`.\`, \`_\` and \`-\``,
  title: "PlanName",
  description: "The name of a plan, for limits that differ by plan.",
  examples: ["pro"],
});
