import { type ErrorCode, ErrorEnvelope, errorCodes, wireCode } from "../errors/index.ts";

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
