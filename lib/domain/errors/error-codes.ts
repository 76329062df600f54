/** The error codes, each with its HTTP status and its default message (ER-7). */
export const errorCodes = {
  INVALID_REQUEST: { status: 400, message: "The request could not be understood." },
  UNAUTHORIZED: { status: 401, message: "Authentication required." },
  FORBIDDEN: { status: 403, message: "You do not have permission to do that." },
  NOT_FOUND: { status: 404, message: "Resource not found." },
  METHOD_NOT_ALLOWED: { status: 405, message: "This method is not allowed here." },
  REQUEST_TIMEOUT: { status: 408, message: "The request body did not arrive in time." },
  CONFLICT: { status: 409, message: "The request conflicts with the current state." },
  ROUTE_CONFLICT: { status: 409, message: "A route is owned by another service." },
  ORGANIZATION_HANDOFF_REQUIRED: {
    status: 409,
    message: "Hand over or delete the listed organizations first.",
  },
  PRECONDITION_FAILED: { status: 412, message: "The resource has changed since you read it." },
  PAYLOAD_TOO_LARGE: { status: 413, message: "Request body is too large." },
  VALIDATION_ERROR: { status: 422, message: "The request is not valid." },
  RATE_LIMITED: { status: 429, message: "Too many requests. Try again in a moment." },
  INTERNAL_ERROR: { status: 500, message: "An unexpected error occurred." },
  /** The gateway's 502 for an upstream that did not respond. Response bodies have the code of a 503. */
  BAD_GATEWAY: { status: 502, message: "Service temporarily unavailable." },
  SERVICE_UNAVAILABLE: { status: 503, message: "Service temporarily unavailable." },
} as const;

/** An error code. Response bodies have `SERVICE_UNAVAILABLE` in place of `BAD_GATEWAY`. */
export type ErrorCode = keyof typeof errorCodes;

/** The kind of error that caused a 5xx, for the log's `error_kind`. */
export type ErrorKind = "auth" | "network" | "db" | "io" | "internal" | "validation";

/** Returns the code for a response body, where BAD_GATEWAY appears as SERVICE_UNAVAILABLE. */
export function wireCode(code: ErrorCode): string {
  return code === "BAD_GATEWAY" ? "SERVICE_UNAVAILABLE" : code;
}
