/** The schemas of names that occur in several parts of a document. */
import { Type } from "@sinclair/typebox";
import { SERVICE_NAME_LENGTH_MAX } from "./maximum-sizes.ts";
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
