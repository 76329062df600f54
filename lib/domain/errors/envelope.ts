import { type Static, Type } from "@sinclair/typebox";
import { REQUEST_ID_EXAMPLE } from "../schemas/index.ts";
import type { ApiError } from "./api-error.ts";
import { wireCode } from "./error-codes.ts";

/** The body of every error (ER-1). */
export const ErrorEnvelope = Type.Object(
  {
    error: Type.Object({
      type: Type.Union([Type.Literal("invalid_request_error"), Type.Literal("api_error")], {
        description:
          "`invalid_request_error`: the request must change. `api_error`: the same request may succeed later.",
      }),
      code: Type.String({
        description: "The code of the error, for programs.",
        examples: ["VALIDATION_ERROR"],
      }),
      message: Type.String({
        description: "A sentence about the error, for people.",
        examples: ["name must be text of 1 to 128 characters."],
      }),
      request_id: Type.String({
        description: "The id of the request in the logs.",
        examples: [REQUEST_ID_EXAMPLE],
      }),
      details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description: "Details that depend on the code, such as `fields` of a VALIDATION_ERROR.",
      }),
    }),
  },
  // Without `additionalProperties`, Elysia copies the schema for each response to add this option.
  { additionalProperties: false, title: "ErrorResponse", description: "The body of every error." },
);
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;

/** Returns the response body for `error`. */
export function envelope(error: ApiError, request_id: string): ErrorEnvelope {
  return {
    error: {
      type: error.status === 429 || error.status >= 500 ? "api_error" : "invalid_request_error",
      code: wireCode(error.code),
      message: error.message,
      request_id,
      details: error.details,
    },
  };
}
