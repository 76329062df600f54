import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { idField, nullable, textField, wholeField } from "../schemas/index.ts";
import type { ErrorCode } from "./error-codes.ts";

/** A wrong field of a request: the path of the field, and a sentence that names the accepted values. */
export const FieldError = Type.Object(
  {
    path: textField(
      "The field: names joined by dots, list positions in brackets. Empty for the whole body.",
      "services.widgets.url",
    ),
    message: textField("The problem, and the values that are accepted.", "url must be http://host:port."),
  },
  { title: "FieldError", description: "One wrong field of a request." },
);
export type FieldError = Static<typeof FieldError>;

export const RouteConflict = Type.Object(
  {
    service: textField("The service that tried to claim the route.", "gadgets"),
    method: textField("The route's method.", "GET"),
    path: textField("The route's full path.", "/org/widgets/{id}"),
    owner: textField("The service that owns the route.", "widgets"),
    owner_path: textField(
      "The full path of the owner's route. Its params can have other names.",
      "/org/widgets/{widget_id}",
    ),
  },
  { title: "RouteConflict", description: "A route that another service owns." },
);

const OrganizationToHandOver = Type.Object(
  {
    id: idField("The organization_id."),
    name: textField("The organization's name.", "Analytical Engines"),
  },
  {
    title: "OrganizationToHandOver",
    description: "An organization that would lose its last member or its last holder of creator_role.",
  },
);

/** The fields of `details` for each code (ER-7). A code that is not listed has no details. */
export const errorDetails: Readonly<Partial<Record<ErrorCode, TProperties>>> = {
  VALIDATION_ERROR: {
    fields: Type.Array(FieldError, { description: "VALIDATION_ERROR: the problems, at most 100." }),
  },
  NOT_FOUND: {
    resource: textField("NOT_FOUND: the kind of resource.", "service"),
    id: nullable(textField("NOT_FOUND: the unknown id.", "widgets")),
  },
  FORBIDDEN: {
    permission: Type.Literal("required_labels", {
      description: "FORBIDDEN: the permission that the caller lacks.",
    }),
    resource: Type.Literal("route", { description: "FORBIDDEN: the kind of resource." }),
    resource_id: textField("FORBIDDEN: the route's path.", "/org/widgets/{widget_id}"),
    required_labels: Type.Array(Type.String({ examples: ["widgets:write"] }), {
      description: "FORBIDDEN: the labels of the route. The caller needs one of them.",
    }),
  },
  CONFLICT: {
    field: textField("CONFLICT: the field that conflicts.", "status"),
    value: textField("CONFLICT: the value of the field.", "revoked"),
  },
  ROUTE_CONFLICT: {
    conflicts: Type.Array(RouteConflict, {
      description: "ROUTE_CONFLICT: the routes that other services own, at most 100.",
    }),
  },
  ORGANIZATION_HANDOFF_REQUIRED: {
    organizations: Type.Array(OrganizationToHandOver, {
      description:
        "ORGANIZATION_HANDOFF_REQUIRED: the organizations that would lose their last member or their last holder of creator_role, at most 100.",
    }),
  },
  PRECONDITION_FAILED: {
    current_revision: nullable(
      wholeField(
        1,
        "PRECONDITION_FAILED: the service's current revision. Null if the service never existed, or if the request applied a document.",
        4,
      ),
    ),
  },
  PAYLOAD_TOO_LARGE: {
    max_size_bytes: wholeField(0, "PAYLOAD_TOO_LARGE: the maximum size of a body, in bytes.", 65_536),
  },
  RATE_LIMITED: {
    retry_after_seconds: wholeField(1, "RATE_LIMITED: seconds to wait before the next attempt.", 10),
  },
};
