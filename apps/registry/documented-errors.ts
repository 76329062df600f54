import type { ErrorCode } from "@ostiary/lib/domain/errors";
import { OutOfBounds } from "@ostiary/lib/domain/routes";
import type { DocumentedError } from "@ostiary/lib/openapi";
import { errors } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";

/** Returns the errors of an operation that requires the token of an operator. */
export function operatorErrors<Code extends ErrorCode = never>(...codes: DocumentedError<Code>[]) {
  return errors<Code | "UNAUTHORIZED">("UNAUTHORIZED", ...codes);
}

/** Returns the error for a body whose field `path` is not the URL of a service. */
export function wrongUrl(path: string) {
  const message = "Set url to `http://host:port`, such as `http://widgets:8080`.";
  return { code: "VALIDATION_ERROR", message, details: { fields: [{ path, message }] } } as const;
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

/** The details of the 403 for a write that its operator may not make (RG-113, RG-114). */
export const forbiddenDetails = {
  operator: Type.String({
    description: "FORBIDDEN: the name of the operator whose write was refused.",
    examples: ["team-widgets"],
  }),
  required_role: Type.Literal("publisher", {
    description: "FORBIDDEN: the role that the operator lacks. Absent if the role suffices.",
  }),
  missing: Type.Array(OutOfBounds, {
    description: "FORBIDDEN: the parts that the operator may not write, at most 100.",
  }),
};

export const foreignService = {
  code: "FORBIDDEN",
  message: "Operator team-widgets may not publish service billing. Nothing was written.",
  details: { operator: "team-widgets", missing: [{ service: "billing" }] },
} as const satisfies DocumentedError;

export const unreadable = {
  code: "CONFLICT",
  message:
    "Another version of Ostiary wrote revision 3 of widgets, and this version cannot read it. Restore an earlier revision, or run the version that wrote it.",
  details: { field: "revision", value: "3" },
} as const satisfies DocumentedError;
