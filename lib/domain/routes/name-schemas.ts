/** The schemas of names that occur in several parts of a document. */
import { Type } from "@sinclair/typebox";
import { joinWords, quoted } from "../errors/index.ts";
import { isRecord } from "../json/index.ts";
import { PLAN_NAME_LENGTH_MAX, SERVICE_NAME_LENGTH_MAX } from "./maximum-sizes.ts";
import { METHODS } from "./methods-and-scopes.ts";

export const ServiceName = Type.String({
  pattern: `^[A-Za-z0-9._-]{1,${SERVICE_NAME_LENGTH_MAX}}$`,
  minLength: 1,
  maxLength: SERVICE_NAME_LENGTH_MAX,
  message: `A service's name must have 1 to ${SERVICE_NAME_LENGTH_MAX} characters: letters, digits, \`.\`, \`_\` and \`-\`.`,
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
  {
    title: "Method",
    description: "An HTTP method, in upper case.",
    message: (value: unknown) => {
      if (isRecord(value)) {
        return "A list of methods can have only names: to give a method its own fields, write all methods as a map.";
      }
      const upper = typeof value === "string" ? value.toUpperCase() : "";
      if (METHODS.some((method) => method === upper))
        return `Write the method in upper case: ${quoted(upper)}.`;
      return `A method must be one of ${joinWords(METHODS)}.`;
    },
  },
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
