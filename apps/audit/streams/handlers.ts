import { type FieldError, fieldErrors, notFound } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import { idField, isUlid } from "@ostiary/lib/domain/schemas";
import {
  answer,
  bodyErrors,
  emptyAnswer,
  errors,
  listQuery,
  noQuery,
  page,
  pageRequest,
  pageSchema,
  repeatedParameters,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { type TSchema, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { logProblems, writtenId } from "../events/parameters.ts";
import { fieldsOf, refuse, unstorable } from "../field-problems.ts";
import {
  changeStream,
  createStream,
  readStream,
  removeStream,
  rotateSecret,
  type StreamCommandDeps,
  testStream,
} from "./commands.ts";
import { selectStreams } from "./sql.ts";
import {
  AuditStream,
  AuditStreamTest,
  AuditStreamWithSecret,
  CreateStreamBody,
  OVERLAP_DEFAULT_S,
  RotateSecretBody,
  STREAMS_MAX,
  toStream,
  UpdateStreamBody,
} from "./stream.ts";
import { type TargetRules, urlProblem, urlWithoutQuery } from "./targets.ts";
import type { TestCalls } from "./test-calls.ts";

const tags = ["Streams"];
const full = {
  code: "CONFLICT",
  message: `An organization has at most ${STREAMS_MAX} streams: delete one first.`,
  details: { field: "streams", value: String(STREAMS_MAX) },
} as const;
const off = {
  code: "CONFLICT",
  message: "Streams are off: the operator has not set AUDIT_STREAM_KEY_FILE.",
  details: { field: "AUDIT_STREAM_KEY_FILE", value: "unset" },
} as const;
const busy = {
  code: "RATE_LIMITED",
  message: "Too many test calls are running. Try again in a moment.",
} as const;

export interface StreamHandlersDeps extends StreamCommandDeps {
  reads: Database;
  testCalls: TestCalls;
}

const organizationId = { organization_id: writtenId("The organization that the streams belong to.") };
const streamParams = Type.Object({ ...organizationId, stream_id: idField("The stream.") });

interface Asked {
  request: Request;
  params: { organization_id: string; stream_id?: string };
  query: unknown;
  body?: unknown;
}

/** Returns every problem of a request, so that one answer can report all problems (AU-97). */
function problemsOf(
  { request, params, query, body }: Asked,
  schemas: Schemas,
  rules: TargetRules,
): FieldError[] {
  return [
    ...logProblems({ kind: "organization", id: params.organization_id }),
    ...repeatedParameters(request.url),
    ...fieldErrors(schemas.query ?? noQuery, query),
    ...(schemas.body === undefined ? [] : bodyProblems(schemas.body, body, rules)),
  ];
}

interface Schemas {
  query?: TSchema;
  body?: TSchema;
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

/** Returns the operations on the streams of an organization (AU-92). */
export function streamHandlers(deps: StreamHandlersDeps) {
  const { reads, receivers, testCalls } = deps;
  const checked = (schemas: Schemas = {}) => ({
    transform: (asked: Asked) => {
      refuse(problemsOf(asked, schemas, receivers.rules));
      const { stream_id } = asked.params;
      if (stream_id !== undefined && !isUlid(stream_id)) throw notFound("stream", stream_id);
    },
  });
  return new Elysia({ name: "audit-streams", normalize: false })
    .group("/organizations/:organization_id/audit-streams", (streams) =>
      streams
        .guard({ params: Type.Object(organizationId) })
        .post(
          "",
          async ({ params, body, status, set }) => {
            const created = await createStream(deps, params.organization_id, body);
            const { id, format, filter } = created;
            const url = urlWithoutQuery(created.url);
            setAuditNote(set, { details: { stream_id: id, url, format, filter }, created: id });
            return status(201, created);
          },
          {
            ...checked({ body: CreateStreamBody }),
            query: noQuery,
            body: CreateStreamBody,
            response: {
              201: answer(
                AuditStreamWithSecret,
                "The stream with its secret. No other answer contains the secret.",
                "details",
                "created",
              ),
              ...bodyErrors(full),
            },
            detail: {
              summary: "Create a stream",
              description: `Delivers events to your receiver from now on, or from a position or a time. An organization has at most ${STREAMS_MAX} streams.`,
              operationId: "createAuditStream",
              tags,
            },
          },
        )
        .get(
          "",
          async ({ params: { organization_id }, query }) => {
            const { limit, starting_after } = pageRequest(query);
            const found = await selectStreams(reads, organization_id, starting_after, limit + 1);
            const { items, has_more } = page(found, limit);
            return { audit_streams: items.map(toStream), has_more };
          },
          {
            ...checked({ query: listQuery }),
            query: listQuery,
            response: { 200: answer(pageSchema("audit_streams", AuditStream), "A page."), ...errors() },
            detail: {
              summary: "List an organization's streams",
              description: "Oldest first, without their secrets.",
              operationId: "listAuditStreams",
              tags,
            },
          },
        ),
    )
    .group("/organizations/:organization_id/audit-streams/:stream_id", (stream) =>
      stream
        .guard({ params: streamParams, query: noQuery })
        .get("", ({ params }) => readStream(deps, params), {
          ...checked(),
          response: { 200: answer(AuditStream, "The stream."), ...errors("NOT_FOUND") },
          detail: {
            summary: "Read a stream",
            description:
              "Shows the last entry that the receiver accepted, and why the last delivery request failed.",
            operationId: "getAuditStream",
            tags,
          },
        })
        .patch(
          "",
          async ({ params, body, set }) => {
            const { stream, details } = await changeStream(deps, params, body);
            setAuditNote(set, { details });
            return stream;
          },
          {
            ...checked({ body: UpdateStreamBody }),
            body: UpdateStreamBody,
            response: {
              200: answer(AuditStream, "The stream, changed.", "details"),
              ...bodyErrors("NOT_FOUND"),
            },
            detail: {
              summary: "Change a stream",
              description:
                "Pauses the stream, starts it again where it stopped, or changes where and what it delivers. The change does not affect a delivery request in flight.",
              operationId: "updateAuditStream",
              tags,
            },
          },
        )
        .delete(
          "",
          async ({ params, status }) => {
            await removeStream(deps, params);
            return status(204, undefined);
          },
          {
            ...checked(),
            response: { 204: emptyAnswer("Deleted."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Delete a stream",
              description: "Deletes the stream and its secret. Nothing more is delivered.",
              operationId: "deleteAuditStream",
              tags,
            },
          },
        )
        .post(
          "/rotate-secret",
          ({ params, body }) => rotateSecret(deps, params, body.overlap_seconds ?? OVERLAP_DEFAULT_S),
          {
            ...checked({ body: RotateSecretBody }),
            body: RotateSecretBody,
            response: {
              200: answer(
                AuditStreamWithSecret,
                "The stream with its new secret. No other answer contains the secret.",
              ),
              ...bodyErrors("NOT_FOUND", off),
            },
            detail: {
              summary: "Replace a stream's secret",
              description:
                "Both secrets sign each delivery request during the overlap, which is a day by default.",
              operationId: "rotateAuditStreamSecret",
              tags,
            },
          },
        )
        .post("/test", ({ params }) => testCalls.run(() => testStream(deps, params)), {
          ...checked(),
          response: {
            200: answer(AuditStreamTest, "The result of the test request."),
            ...errors("NOT_FOUND", off, busy),
          },
          detail: {
            summary: "Call a stream's receiver",
            description:
              "Sends a signed message of type audit.test, which contains no event, and returns what the receiver answered. If the receiver of a failing stream accepts the message, the stream is retried at once.",
            operationId: "testAuditStream",
            tags,
          },
        }),
    );
}
