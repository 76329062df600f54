import { type Static, Type } from "@sinclair/typebox";
import { REQUEST_ID_EXAMPLE, textField } from "../schemas/index.ts";
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
      code: textField("The code of the error, for programs.", "VALIDATION_ERROR"),
      message: textField(
        "A sentence about the error, for people.",
        "name must be text of 1 to 128 characters.",
      ),
      request_id: textField("The id of the request in the logs.", REQUEST_ID_EXAMPLE),
      details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description: "Details that depend on the code, such as `fields` of a VALIDATION_ERROR.",
      }),
    }),
  },
  // Without `additionalProperties`, Elysia copies the schema for each response to add this option.
  { additionalProperties: false, title: "ErrorResponse", description: "The body of every error." },
);
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;

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
