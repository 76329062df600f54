import { idField, mapOf } from "@ostiary/lib/domain/schemas";
import { type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import type { EventLog } from "./event-filter.ts";
import { eventQuerySchema, PARAM_LENGTH_MAX } from "./event-query.ts";

type Parameter = NonNullable<DocumentDecoration["parameters"]>[number];

const texts = {
  organization: {
    summary: "Read an organization's audit log",
    description:
      "Newest first. Filters combine with AND. With `Accept: text/csv` or `application/x-ndjson` the answer is the whole filtered log as a stream, whatever `limit` says; `starting_after` continues an export that broke off.",
    operationId: "listOrganizationAuditEvents",
  },
  user: {
    summary: "Read a person's audit log",
    description:
      "What this person did outside of organizations, newest first, with filters and exports like an organization's log.",
    operationId: "listUserAuditEvents",
  },
} as const satisfies Record<EventLog["kind"], object>;

/** The OpenAPI text of a read, its query taken from the schema that checks it. */
export function describeRead(kind: EventLog["kind"]): DocumentDecoration {
  return {
    ...texts[kind],
    tags: ["Audit events"],
    parameters: [pathParameter(kind), ...queryParameters()],
    responses: { 200: { description: "A page, or an export.", content: exportContent } },
  };
}

const exportContent = {
  "text/csv": {
    schema: {
      type: "string" as const,
      description:
        "One line for each event under a line of column names; `params` and `details` as JSON. A cell that a spreadsheet would take for a formula begins with an apostrophe.",
    },
  },
  "application/x-ndjson": {
    schema: { type: "string" as const, description: "One event in JSON on each line." },
  },
};

const pathParams = mapOf(
  Type.String({ pattern: "^params\\[[A-Za-z_][A-Za-z0-9_]*\\]$" }),
  Type.String({ maxLength: PARAM_LENGTH_MAX }),
);

function pathParameter(kind: EventLog["kind"]): Parameter {
  const description = kind === "organization" ? "Whose log: an organization." : "Whose log: a person.";
  return { name: `${kind}_id`, in: "path", required: true, description, schema: plain(idField(description)) };
}

function queryParameters(): Parameter[] {
  const schemas: Record<string, TSchema> = eventQuerySchema.properties;
  const named = Object.entries(schemas).map(([name, schema]): Parameter => {
    return { name, in: "query", required: false, description: schema.description, schema: plain(schema) };
  });
  return [
    ...named,
    {
      // by `deepObject` it would have to be named `params`, which clients in Python take for a variable of theirs
      name: "path_params",
      in: "query",
      required: false,
      style: "form",
      explode: true,
      description:
        "Events with these path params: each is a parameter of its own, such as `params[widget_id]=42`; several combine with AND.",
      schema: plain(pathParams),
      example: { "params[widget_id]": "42" },
    },
  ];
}

/** A schema without TypeBox's own marks: JSON Schema, which is what OpenAPI has for parameters. */
function plain(schema: TSchema): { type?: "string" } {
  return JSON.parse(JSON.stringify(schema));
}
