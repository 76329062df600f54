import type { ErrorCode } from "@ostiary/lib/domain/errors";
import { type DocumentedError, errorResponses } from "@ostiary/lib/runtime/http";

const ANY_OPERATION = [
  "UNAUTHORIZED",
  "VALIDATION_ERROR",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
] as const satisfies ErrorCode[];

/** The errors of an operation, beside those that every operation has. */
export function errors<Code extends ErrorCode>(...codes: DocumentedError<Code>[]) {
  return errorResponses<Code | (typeof ANY_OPERATION)[number]>(...ANY_OPERATION, ...codes);
}

/** The errors of an operation with a body; `path` is where its example of a wrong url stands. */
export function bodyErrors(path: string) {
  const message = "Set url to `http://host:port`, such as `http://widgets:8080`.";
  const details = { fields: [{ path, message }] };
  return errorResponses("PAYLOAD_TOO_LARGE", { code: "VALIDATION_ERROR", message, details });
}

export const unknownService = {
  code: "NOT_FOUND",
  details: { resource: "service", id: "widgets" },
} as const satisfies DocumentedError;

export const routeConflict = {
  code: "ROUTE_CONFLICT",
  message:
    "GET /org/widgets/{id} belongs to service widgets as /org/widgets/{widget_id}. Nothing was written.",
} as const satisfies DocumentedError;
