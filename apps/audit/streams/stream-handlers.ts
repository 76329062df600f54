import { type FieldError, fieldErrors, notFound } from "@ostiary/lib/domain/errors";
import { idField, isUlid } from "@ostiary/lib/domain/schemas";
import { describeOperations } from "@ostiary/lib/openapi";
import {
  bodyErrors,
  emptyResponse,
  errors,
  listQuery,
  noQuery,
  page,
  pageRequest,
  pageSchema,
  repeatedParameters,
  response,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { type TSchema, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { logProblems, writtenId } from "../events/event-parameters.ts";
import { fieldsOf, refuse, unstorable } from "../field-problems.ts";
import { type TargetRules, urlProblem, urlWithoutQuery } from "../receivers/targets.ts";
import {
  AuditStream,
  AuditStreamTest,
  AuditStreamWithSecret,
  CreateStreamBody,
  OVERLAP_DEFAULT_S,
  RotateSecretBody,
  STREAMS_MAX,
  streamsOff,
  tooManyStreams,
  tooManyTestCalls,
  UpdateStreamBody,
} from "./stream.ts";
import { changeStream, createStream, readStream, removeStream, rotateSecret } from "./stream-commands.ts";
import { listStreams } from "./stream-sql.ts";
import { type TestCallDeps, testStream } from "./test-call.ts";

const operations = describeOperations(
  {
    createAuditStream: [
      "Create a stream",
      `Delivers events to your receiver from now on, or from a position or a time. An organization has at most ${STREAMS_MAX} streams.`,
    ],
    listAuditStreams: ["List an organization's streams", "Oldest first, without their secrets."],
    getAuditStream: [
      "Read a stream",
      "Shows the last entry that the receiver accepted, and why the last delivery request failed.",
    ],
    updateAuditStream: [
      "Change a stream",
      "Pauses the stream, starts it again where it stopped, or changes where and what it delivers. The change does not affect a delivery request in flight.",
    ],
    deleteAuditStream: ["Delete a stream", "Deletes the stream and its secret. Nothing more is delivered."],
    rotateAuditStreamSecret: [
      "Replace a stream's secret",
      "Both secrets sign each delivery request during the overlap, which is a day by default.",
    ],
    testAuditStream: [
      "Call a stream's receiver",
      "Sends a signed message of type audit.test, which contains no event, and returns the result. If the receiver of a failing stream accepts the message, the stream is retried at once.",
    ],
  },
  ["Streams"],
);

const STREAMS_PATH = "/organizations/:organization_id/audit-streams";
const STREAM_PATH = `${STREAMS_PATH}/:stream_id`;

export interface StreamHandlersDeps extends TestCallDeps {
  reads: Database;
}

const organization_id = writtenId("The organization that the streams belong to.");
const streamParams = Type.Object({ organization_id, stream_id: idField("The stream.") });

/** Returns an operation's schemas and check: 422 for a request with problems, 404 for a malformed id of a stream. */
function checked<Schemas extends StreamSchemas>(
  { receivers: { rules } }: StreamHandlersDeps,
  schemas: Schemas,
) {
  return {
    ...schemas,
    transform: (asked: StreamRequest) => {
      refuse(streamProblems(asked, schemas, rules));
      const { stream_id } = asked.params;
      if (stream_id !== undefined && !isUlid(stream_id)) throw notFound("stream", stream_id);
    },
  };
}

/** Returns the routes for the streams of an organization (AU-92). */
export function streamHandlers(deps: StreamHandlersDeps) {
  return new Elysia({ name: "audit-streams", normalize: false })
    .use(listHandlers(deps))
    .use(oneStreamHandlers(deps));
}

function listHandlers(deps: StreamHandlersDeps) {
  return new Elysia({ name: "audit-streams-list", normalize: false, prefix: STREAMS_PATH })
    .guard({ params: Type.Object({ organization_id }) })
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
        ...checked(deps, { body: CreateStreamBody, query: noQuery }),
        response: {
          201: response(
            AuditStreamWithSecret,
            "The stream with its secret. No other response contains the secret.",
            "details",
            "created",
          ),
          ...bodyErrors(tooManyStreams),
        },
        detail: operations.createAuditStream,
      },
    )
    .get(
      "",
      async ({ params: { organization_id }, query }) => {
        const { limit, starting_after } = pageRequest(query);
        const found = await listStreams(deps.reads, organization_id, starting_after, limit + 1);
        const { items: audit_streams, has_more } = page(found, limit);
        return { audit_streams, has_more };
      },
      {
        ...checked(deps, { query: listQuery }),
        response: { 200: response(pageSchema("audit_streams", AuditStream), "A page."), ...errors() },
        detail: operations.listAuditStreams,
      },
    );
}

function oneStreamHandlers(deps: StreamHandlersDeps) {
  return new Elysia({ name: "audit-stream", normalize: false, prefix: STREAM_PATH })
    .guard({ params: streamParams, query: noQuery })
    .get("", ({ params }) => readStream(deps, params), {
      ...checked(deps, {}),
      response: { 200: response(AuditStream, "The stream."), ...errors("NOT_FOUND") },
      detail: operations.getAuditStream,
    })
    .patch(
      "",
      async ({ params, body, set }) => {
        const { stream, details } = await changeStream(deps, params, body);
        setAuditNote(set, { details });
        return stream;
      },
      {
        ...checked(deps, { body: UpdateStreamBody }),
        response: {
          200: response(AuditStream, "The changed stream.", "details"),
          ...bodyErrors("NOT_FOUND"),
        },
        detail: operations.updateAuditStream,
      },
    )
    .delete(
      "",
      async ({ params, status }) => {
        await removeStream(deps, params);
        return status(204, undefined);
      },
      {
        ...checked(deps, {}),
        response: { 204: emptyResponse("Deleted."), ...errors("NOT_FOUND") },
        detail: operations.deleteAuditStream,
      },
    )
    .post(
      "/rotate-secret",
      ({ params, body }) => rotateSecret(deps, params, body.overlap_seconds ?? OVERLAP_DEFAULT_S),
      {
        ...checked(deps, { body: RotateSecretBody }),
        response: {
          200: response(
            AuditStreamWithSecret,
            "The stream with its new secret. No other response contains the secret.",
          ),
          ...bodyErrors("NOT_FOUND", streamsOff),
        },
        detail: operations.rotateAuditStreamSecret,
      },
    )
    .post("/test", ({ params }) => testStream(deps, params), {
      ...checked(deps, {}),
      response: {
        200: response(AuditStreamTest, "The result of the test request."),
        ...errors("NOT_FOUND", streamsOff, tooManyTestCalls),
      },
      detail: operations.testAuditStream,
    });
}

interface StreamRequest {
  request: Request;
  params: { organization_id: string; stream_id?: string };
  query: unknown;
  body?: unknown;
}

interface StreamSchemas {
  query?: TSchema;
  body?: TSchema;
}

/** Returns every problem of a request, so that one response can report them all (AU-95, AU-97). */
function streamProblems(
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
  const problem = typeof url === "string" ? urlProblem(url, rules) : null;
  return [
    ...fieldErrors(schema, body),
    ...(problem === null ? [] : [{ path: "url", message: problem }]),
    ...unstorable(exact, "filter."),
    ...unstorable(fieldsOf(params), "filter.params."),
    ...Object.keys(fieldsOf(params)).flatMap((name) => unstorable({ [name]: name }, "filter.params.")),
    ...(from_position !== undefined && from_time !== undefined
      ? [{ path: "from_time", message: "from_time cannot be combined with from_position; leave one out." }]
      : []),
  ];
}
