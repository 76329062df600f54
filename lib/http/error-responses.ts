import { Type } from "@sinclair/typebox";
import { type ErrorCode, errorCodes, wireCode } from "../errors/index.ts";

/** Shape of every error's body (contract 2), for an operation's `response` and its OpenAPI text. */
export const ErrorEnvelope = Type.Object(
  {
    error: Type.Object({
      type: Type.Union([Type.Literal("invalid_request_error"), Type.Literal("api_error")], {
        description: "`invalid_request_error`: the request must change. `api_error`: it may succeed later.",
      }),
      code: Type.String({ description: "What went wrong, for programs.", examples: ["VALIDATION_ERROR"] }),
      message: Type.String({ description: "What went wrong, for people." }),
      request_id: Type.String({ description: "Names this request in the logs." }),
      details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description: "What the code says more about, such as `fields` of a VALIDATION_ERROR.",
      }),
    }),
  },
  { title: "Error", description: "The body of every error." },
);

/** The statuses of some error codes, each with the envelope as its body. */
export type ErrorResponses<Code extends ErrorCode> = {
  [Status in (typeof errorCodes)[Code]["status"]]: typeof ErrorEnvelope;
};

/**
 * The errors of an operation as entries of its `response`, beside the success:
 * `response: { 200: User, ...errorResponses("NOT_FOUND", "VALIDATION_ERROR") }`.
 */
export function errorResponses<Code extends ErrorCode>(...codes: Code[]): ErrorResponses<Code> {
  const byStatus: Record<number, typeof ErrorEnvelope> = {};
  for (const code of codes) {
    const { status, message } = errorCodes[code];
    const line = `${wireCode(code)}: ${message}`;
    const before = byStatus[status]?.response_description;
    const response_description = before === undefined ? line : `${before}\n\n${line}`;
    byStatus[status] = { ...ErrorEnvelope, response_description };
  }
  return ofCodes<Code>(byStatus);
}

/** Safe: the loop above has set the status of every code. */
function ofCodes<Code extends ErrorCode>(
  byStatus: Record<number, typeof ErrorEnvelope>,
): ErrorResponses<Code> {
  // biome-ignore lint/plugin: see above
  return byStatus as ErrorResponses<Code>;
}
