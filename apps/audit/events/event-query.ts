import { routeTemplate } from "@ostiary/lib/contracts/audit";
import { type FieldError, fieldErrors, validationError } from "@ostiary/lib/domain/errors";
import { idField, REQUEST_ID_EXAMPLE, ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import {
  listQueryProperties,
  type PageRequest,
  pageRequest,
  repeatedParameters,
} from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { firstOfEach, unstorable } from "../problems.ts";
import { parseTime } from "../time.ts";
import { type EventFilter, type EventLog, exactFilters } from "./event-filter.ts";
import { eventOutcomeSchema } from "./event-schema.ts";

export const PARAM_LENGTH_MAX = 8_192;

const exact = (description: string, maxLength: number, example: string) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength, examples: [example] }));
const time = (description: string) =>
  Type.Optional(
    Type.String({ description, examples: ["2026-01-31T12:00:00Z"], openapi: { format: "date-time" } }),
  );

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
  },
  { additionalProperties: Type.String({ maxLength: PARAM_LENGTH_MAX }) },
);

const ID_LENGTH_MAX = 128;
const PARAM = /^params\[(.+)\]$/s;

/** Reads the query of a read's URL into a filter and a page. 422 names all that is unknown or malformed, of `log` too. */
export function readEventQuery(log: EventLog, url: string): { filter: EventFilter; page: PageRequest } {
  const query: Record<string, string> = Object.fromEntries(new URL(url).searchParams);
  const problems = [
    ...logProblems(log),
    ...repeatedParameters(url),
    ...fieldErrors(eventQuerySchema, query),
    ...unstorable(query),
  ];
  const filter: EventFilter = {
    log,
    exact: {},
    params: new Map(),
    from: readTime("occurred_after", query.occurred_after, problems),
    before: readTime("occurred_before", query.occurred_before, problems),
  };
  for (const name of exactFilters) {
    const value = query[name];
    if (value !== undefined) filter.exact[name] = value;
  }
  for (const [name, value] of Object.entries(query)) {
    if (!Object.hasOwn(eventQuerySchema.properties, name)) readParam(filter, name, value, problems);
  }
  if (problems.length > 0) throw validationError(firstOfEach(problems));
  return { filter, page: pageRequest(query) };
}

function logProblems({ kind, id }: EventLog): FieldError[] {
  const path = `${kind}_id`;
  if (id.length <= ID_LENGTH_MAX) return unstorable({ [path]: id });
  return [{ path, message: `${path} must be a string of at most ${ID_LENGTH_MAX} characters.` }];
}

function readParam(filter: EventFilter, name: string, value: string, problems: FieldError[]): void {
  const param = PARAM.exec(name)?.[1];
  if (param === undefined) {
    problems.push({ path: name, message: `${name} is not a known parameter; remove it.` });
  } else {
    problems.push(...unstorable({ [name]: param }));
    filter.params.set(param, value);
  }
}

function readTime(name: string, text: string | undefined, problems: FieldError[]): Temporal.Instant | null {
  const instant = text === undefined ? null : parseTime(text);
  if (text !== undefined && instant === null) {
    problems.push({
      path: name,
      message: `${name} must be an RFC 3339 time such as 2026-01-31T12:00:00Z; write + as %2B.`,
    });
  }
  return instant;
}
