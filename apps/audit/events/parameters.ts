import { eventOutcomeSchema, routeTemplate } from "@ostiary/lib/contracts/audit";
import { type FieldError, fieldErrors } from "@ostiary/lib/domain/errors";
import { idField, mapOf, REQUEST_ID_EXAMPLE, ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { asOpenApi, listQueryProperties, repeatedParameters } from "@ostiary/lib/runtime/http";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import { acceptsNdjson } from "../exports/formats.ts";
import { unstorable } from "../problems.ts";
import { parseTime, RFC_3339_TIME } from "../time.ts";
import type { EventLog } from "./event.ts";
import { type EventFilter, exactFilters } from "./filter.ts";

/** What the two reads of the log are given: their query, and whose log it is. */

const ID_LENGTH_MAX = 128;
const PARAM_LENGTH_MAX = 8_192;
const PARAM = /^params\[(.+)\]$/s;

const exact = (description: string, maxLength: number, example: string) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength, examples: [example] }));
const time = (description: string) =>
  Type.Optional({
    ...Type.String({
      description,
      examples: ["2026-01-31T12:00:00Z"],
      rule: "must be an RFC 3339 time such as 2026-01-31T12:00:00Z; write + as %2B",
      openapi: { format: "date-time" },
    }),
    format: RFC_3339_TIME,
  });

/**
 * The query of both reads (Identity specification, Audit read). A name that is no property is `params[name]`,
 * or unknown.
 */
export const eventQuerySchema = Type.Object(
  {
    ...listQueryProperties(),
    actor_member_id: Type.Optional(
      Type.String({ ...idField("Events of this member."), minLength: 1, maxLength: 128 }),
    ),
    service: exact("Events of this service.", 128, "widgets"),
    method: exact("Events of this HTTP method, in capitals.", 16, "DELETE"),
    route: Type.Optional({
      ...routeTemplate,
      description: "Events of this path template, exactly as events spell it.",
      examples: ["/org/widgets/{widget_id}"],
    }),
    outcome: Type.Optional(eventOutcomeSchema),
    request_id: exact("The event of this request.", 128, REQUEST_ID_EXAMPLE),
    created_id: exact("Events in which this id was created.", 128, ULID_EXAMPLE),
    occurred_after: time("Events at or after this time, RFC 3339."),
    occurred_before: time("Events before this time, RFC 3339."),
    proof: Type.Optional(
      Type.Union([Type.Literal("true"), Type.Literal("false")], {
        description:
          "true: an export in NDJSON of the whole log with what proves it, which `bun cli audit verify` checks; no filter goes with it.",
        rule: "must be true or false",
        openapi: { type: "boolean", default: false, anyOf: undefined },
      }),
    ),
  },
  { additionalProperties: Type.String({ maxLength: PARAM_LENGTH_MAX }) },
);

export type EventQuery = Static<typeof eventQuerySchema>;

/** All that is wrong with what a read was given. Every value of `query` is a text. */
export function readProblems(log: EventLog, query: EventQuery, { url, headers }: Request): FieldError[] {
  return [
    ...logProblems(log),
    ...repeatedParameters(url),
    ...fieldErrors(eventQuerySchema, query),
    ...unstorable({ ...query }),
    ...Object.keys(query).flatMap(nameProblems),
    ...proofProblems(query, headers.get("accept")),
  ];
}

/** With a part of a log nothing can be said of the rest, so that a proof is of the whole. */
function proofProblems({ proof, limit: _, ...filters }: EventQuery, accept: string | null): FieldError[] {
  if (proof !== "true") return [];
  const problems = Object.keys(filters).map((path) => ({
    path,
    message: `${path} can not be combined with proof=true, which is about a whole log; remove it.`,
  }));
  if (acceptsNdjson(accept)) return problems;
  return [...problems, { path: "proof", message: "proof=true needs Accept: application/x-ndjson." }];
}

function logProblems({ kind, id }: EventLog): FieldError[] {
  const path = `${kind}_id`;
  if (id.length <= ID_LENGTH_MAX) return unstorable({ [path]: id });
  return [{ path, message: `${path} must be a string of at most ${ID_LENGTH_MAX} characters.` }];
}

function nameProblems(name: string): FieldError[] {
  if (Object.hasOwn(eventQuerySchema.properties, name)) return [];
  const param = PARAM.exec(name)?.[1];
  if (param === undefined) return [{ path: name, message: `${name} is not a known parameter; remove it.` }];
  return unstorable({ [name]: param });
}

/** The filter that a valid query asks for. */
export function eventFilter(log: EventLog, query: EventQuery): EventFilter {
  const { occurred_after, occurred_before } = query;
  const filter: EventFilter = {
    log,
    exact: {},
    params: new Map(),
    from: occurred_after === undefined ? null : parseTime(occurred_after),
    before: occurred_before === undefined ? null : parseTime(occurred_before),
  };
  for (const name of exactFilters) {
    const value = query[name];
    if (value !== undefined) filter.exact[name] = value;
  }
  for (const [name, value] of Object.entries(query)) {
    const param = PARAM.exec(name)?.[1];
    if (param !== undefined) filter.params.set(param, value);
  }
  return filter;
}

type Parameter = NonNullable<DocumentDecoration["parameters"]>[number];

const pathParams = mapOf(
  Type.String({ pattern: "^params\\[[A-Za-z_][A-Za-z0-9_]*\\]$" }),
  Type.String({ maxLength: PARAM_LENGTH_MAX }),
);

/** The parameters of a read in the OpenAPI document, from the schema that checks them. */
export function describedParameters(kind: EventLog["kind"]): Parameter[] {
  const owner = idField(kind === "organization" ? "Whose log: an organization." : "Whose log: a person.");
  return [
    described("path", `${kind}_id`, owner),
    ...Object.entries(eventQuerySchema.properties).map(([name, schema]) => described("query", name, schema)),
    {
      // by `deepObject` it would have to be named `params`, which clients in Python take for a variable of theirs
      name: "path_params",
      in: "query",
      required: false,
      style: "form",
      explode: true,
      description:
        "Events with these path params: each is a parameter of its own, such as `params[widget_id]=42`; several combine with AND.",
      schema: asOpenApi(pathParams),
      example: { "params[widget_id]": "42" },
    },
  ];
}

function described(place: "path" | "query", name: string, schema: TSchema): Parameter {
  const { description } = schema;
  return { name, in: place, required: place === "path", description, schema: asOpenApi(schema) };
}
