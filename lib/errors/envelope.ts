import type { ApiError } from "./api-error.ts";
import { wireCode } from "./codes.ts";

/** The body of every error (contract 2). */
export interface ErrorEnvelope {
  error: {
    type: "invalid_request_error" | "api_error";
    code: string;
    message: string;
    request_id: string;
    details: Record<string, unknown> | null;
  };
}

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
