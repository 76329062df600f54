import { type Static, Type } from "@sinclair/typebox";
import { REQUEST_ID_EXAMPLE } from "../schemas/index.ts";
import type { ApiError } from "./api-error.ts";
import { wireCode } from "./codes.ts";

/** The body of every error (contract 2). */
export const ErrorEnvelope = Type.Object(
  {
    error: Type.Object({
      type: Type.Union([Type.Literal("invalid_request_error"), Type.Literal("api_error")], {
        description: "`invalid_request_error`: the request must change. `api_error`: it may succeed later.",
      }),
      code: Type.String({ description: "What went wrong, for programs.", examples: ["VALIDATION_ERROR"] }),
      message: Type.String({
        description: "What went wrong, for people.",
        examples: ["name must be text of 1 to 128 characters."],
      }),
      request_id: Type.String({
        description: "Names this request in the logs.",
        examples: [REQUEST_ID_EXAMPLE],
      }),
      details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description: "What the code says more about, such as `fields` of a VALIDATION_ERROR.",
      }),
    }),
  },
  // said here, since Elysia writes it into schemas of responses that do not say it, and each has a copy
  { additionalProperties: false, title: "Error", description: "The body of every error." },
);
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;

/** Builds the body for `error`, as answered to request `requestId`. */
export function envelope(error: ApiError, requestId: string): ErrorEnvelope {
  return {
    error: {
      type: error.status === 429 || error.status >= 500 ? "api_error" : "invalid_request_error",
      code: wireCode(error.code),
      message: error.message,
      request_id: requestId,
      details: error.details,
    },
  };
}
