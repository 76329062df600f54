import { type FieldError, fieldErrors } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import { noQuery, repeatedParameters } from "@ostiary/lib/runtime/http";
import type { TSchema } from "@sinclair/typebox";
import { logProblems } from "../events/parameters.ts";
import { fieldsOf, unstorable } from "../field-problems.ts";
import { type TargetRules, urlProblem } from "./targets.ts";

/** A request for an operation of streams. */
export interface StreamRequest {
  request: Request;
  params: { organization_id: string; stream_id?: string };
  query: unknown;
  body?: unknown;
}

/** The schemas of an operation. Without a query schema, an operation takes no query parameters. */
export interface StreamSchemas {
  query?: TSchema;
  body?: TSchema;
}

/** Returns every problem of a request, so that one response can report them all (AU-95, AU-97). */
export function streamProblems(
  { request, params, query, body }: StreamRequest,
  schemas: StreamSchemas,
  rules: TargetRules,
): FieldError[] {
  return [
    ...logProblems({ kind: "organization", id: params.organization_id }),
    ...repeatedParameters(request.url),
    ...fieldErrors(schemas.query ?? noQuery, query),
    ...(schemas.body === undefined ? [] : bodyProblems(schemas.body, body, rules)),
  ];
}

function bodyProblems(schema: TSchema, body: unknown, rules: TargetRules): FieldError[] {
  const { url, filter, from_position, from_time } = fieldsOf(body);
  const { params, ...exact } = fieldsOf(filter);
  const paths = (prefix: string, texts: unknown) =>
    Object.fromEntries(Object.entries(fieldsOf(texts)).map(([name, text]) => [`${prefix}.${name}`, text]));
  const problem = typeof url === "string" ? urlProblem(url, rules) : null;
  return [
    ...fieldErrors(schema, body),
    ...(problem === null ? [] : [{ path: "url", message: problem }]),
    ...unstorable(paths("filter", exact)),
    ...unstorable(paths("filter.params", params)),
    ...(isRecord(params)
      ? Object.keys(params).flatMap((name) => unstorable({ [`filter.params.${name}`]: name }))
      : []),
    ...(from_position !== undefined && from_time !== undefined
      ? [{ path: "from_time", message: "from_time cannot be combined with from_position; leave one out." }]
      : []),
  ];
}
