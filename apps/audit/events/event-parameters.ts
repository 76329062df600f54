import { eventOutcomeSchema, routeTemplate } from "@ostiary/lib/contracts/audit";
import { type FieldError, fieldErrors } from "@ostiary/lib/domain/errors";
import {
  mapOf,
  parseTime,
  REQUEST_ID_EXAMPLE,
  RFC_3339_TIME,
  TIME_RULE,
  ULID_EXAMPLE,
} from "@ostiary/lib/domain/schemas";
import { asOpenApi, listQueryProperties, repeatedParameters } from "@ostiary/lib/runtime/http";
import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import { acceptsNdjson } from "../exports/formats.ts";
import { unstorable } from "../field-problems.ts";
import type { EventLog } from "./event.ts";
import { type EventFilter, exactFilters } from "./filter.ts";

const ID_LENGTH_MAX = 128;
export const PARAM_LENGTH_MAX = 8_192;
const PARAM = /^params\[(.+)\]$/s;

const exact = (description: string, maxLength: number, example: string) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength, examples: [example] }));
export const timeParameter = (description: string) =>
  Type.Optional({
    ...Type.String({
      description,
      examples: ["2026-01-31T12:00:00Z"],
      rule: `${TIME_RULE}; write + as %2B`,
      openapi: { format: "date-time" },
    }),
    format: RFC_3339_TIME,
  });

/** Returns the schema of an id that an event contains. The log accepts ids in any format. */
export const writtenId = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: ID_LENGTH_MAX, examples: [ULID_EXAMPLE] });

/** Matches the size of a tree: a decimal integer that a JavaScript number represents exactly. */
const TREE_SIZE_PATTERN = "^[1-9][0-9]{0,14}$";

const paramQuery = { additionalProperties: Type.String({ maxLength: PARAM_LENGTH_MAX }) };
const { limit, starting_after } = listQueryProperties();

/**
 * The query parameters that pages and exports share (AU-36, AU-37, AU-39). Any other parameter must have the
 * form `params[name]`.
 */
const filterQuerySchema = Type.Object(
  {
    starting_after,
    actor_member_id: Type.Optional(writtenId("Events of this member.")),
    service: exact("Events of this service.", 128, "widgets"),
    method: exact("Events of this HTTP method, in capitals.", 16, "DELETE"),
    route: Type.Optional({
      ...routeTemplate,
      description: "Events of this path template, spelled exactly as in events.",
      examples: ["/org/widgets/{widget_id}"],
    }),
    outcome: Type.Optional(eventOutcomeSchema),
    request_id: exact("The event of this request.", 128, REQUEST_ID_EXAMPLE),
    created_id: exact("Events in which this id was created.", 128, ULID_EXAMPLE),
    occurred_after: timeParameter("Events at or after this time, RFC 3339."),
    occurred_before: timeParameter("Events before this time, RFC 3339."),
    proof: Type.Optional(
      Type.Union([Type.Literal("true"), Type.Literal("false")], {
        description:
          "true: an NDJSON export of the whole log with its proof, for `bun cli audit verify`. Filters cannot be combined with proof=true.",
        rule: "must be true or false",
        openapi: { type: "boolean", default: false, anyOf: undefined },
      }),
    ),
    root: Type.Optional(
      Type.String({
        description:
          "The size of a signed root that you kept. The proof then also shows where the log ended under that root. Requires proof=true.",
        pattern: TREE_SIZE_PATTERN,
        rule: "must be the size of a signed root",
        openapi: { type: "integer", minimum: 1, examples: [4711] },
      }),
    ),
  },
  paramQuery,
);

/** The query of a page (AU-34). The Accept header of the request may ask for an export instead. */
export const pageQuerySchema = Type.Object({ limit, ...filterQuerySchema.properties }, paramQuery);

export const exportQuerySchema = Type.Object(
  {
    format: Type.Union([Type.Literal("csv"), Type.Literal("ndjson")], {
      description: "The format of the export.",
      rule: "must be csv or ndjson",
    }),
    ...filterQuerySchema.properties,
  },
  paramQuery,
);

export type EventQuery = Static<typeof filterQuerySchema>;
export type PageQuery = Static<typeof pageQuerySchema>;
type ExportQuery = Static<typeof exportQuerySchema>;

export function pageProblems(log: EventLog, query: PageQuery, request: Request): FieldError[] {
  const { limit: _, ...filters } = query;
  return [
    ...readProblems(log, pageQuerySchema, query, request),
    ...proofProblems(filters, acceptsNdjson(request.headers.get("accept"))),
  ];
}

export function exportProblems(log: EventLog, query: ExportQuery, request: Request): FieldError[] {
  const { format, ...filters } = query;
  return [
    ...readProblems(log, exportQuerySchema, query, request),
    ...proofProblems(filters, format === "ndjson"),
  ];
}

function readProblems(log: EventLog, schema: TObject, query: EventQuery, { url }: Request): FieldError[] {
  return [
    ...logProblems(log),
    ...repeatedParameters(url),
    ...fieldErrors(schema, query),
    ...unstorable({ ...query }),
    ...Object.keys(query).flatMap((name) => nameProblems(schema, name)),
  ];
}

/**
 * Returns what is wrong with `proof` and `root`. A proof covers a whole log, so it cannot be combined
 * with filters.
 */
function proofProblems({ proof, root, ...filters }: EventQuery, isNdjson: boolean): FieldError[] {
  if (proof !== "true") {
    if (root === undefined) return [];
    return [{ path: "root", message: "root needs proof=true; add it, or remove root." }];
  }
  const problems = Object.keys(filters).map((path) => ({
    path,
    message: `${path} cannot be combined with proof=true, which covers a whole log; remove it.`,
  }));
  if (isNdjson) return problems;
  const message =
    "proof=true needs NDJSON: send Accept: application/x-ndjson, or format=ndjson to the export operation.";
  return [...problems, { path: "proof", message }];
}

/** Returns what is wrong with the id of a log's owner. The log accepts any id that the database can store. */
export function logProblems({ kind, id }: EventLog): FieldError[] {
  const path = `${kind}_id`;
  if (id.length <= ID_LENGTH_MAX) return unstorable({ [path]: id });
  return [{ path, message: `${path} must be a string of at most ${ID_LENGTH_MAX} characters.` }];
}

function nameProblems({ properties }: TObject, name: string): FieldError[] {
  if (Object.hasOwn(properties, name)) return [];
  const param = PARAM.exec(name)?.[1];
  if (param === undefined) return [{ path: name, message: `${name} is not a known parameter; remove it.` }];
  return unstorable({ [name]: param });
}

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

/** Returns the parameters of a read for the OpenAPI description, from the schema that checks them. */
export function describedParameters(
  kind: EventLog["kind"],
  { properties, required = [] }: TObject,
): Parameter[] {
  const owner = writtenId(
    kind === "organization" ? "The organization whose log is read." : "The person whose log is read.",
  );
  return [
    described("path", `${kind}_id`, owner, true),
    ...Object.entries(properties).map(([name, schema]) =>
      described("query", name, schema, required.includes(name)),
    ),
    {
      // `deepObject` would require the name `params`, which clashes with a local variable in generated Python
      // clients
      name: "path_params",
      in: "query",
      required: false,
      style: "form",
      explode: true,
      description:
        "Events with these path params. Each one is a separate query parameter, such as `params[widget_id]=42`. Several combine with AND.",
      schema: asOpenApi(pathParams),
      example: { "params[widget_id]": "42" },
    },
  ];
}

function described(place: "path" | "query", name: string, schema: TSchema, required: boolean): Parameter {
  const { description } = schema;
  return { name, in: place, required, description, schema: asOpenApi(schema) };
}
