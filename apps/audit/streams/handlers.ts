import { notFound } from "@ostiary/lib/domain/errors";
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
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { writtenId } from "../events/parameters.ts";
import { refuse } from "../field-problems.ts";
import {
  changeStream,
  createStream,
  readStream,
  removeStream,
  rotateSecret,
  type StreamCommandDeps,
  testStream,
} from "./commands.ts";
import { operations } from "./operation-texts.ts";
import { type StreamRequest, type StreamSchemas, streamProblems } from "./parameters.ts";
import { selectStreams } from "./sql.ts";
import {
  AuditStream,
  AuditStreamTest,
  AuditStreamWithSecret,
  CreateStreamBody,
  OVERLAP_DEFAULT_S,
  RotateSecretBody,
  streamsOff,
  tooManyStreams,
  toStream,
  UpdateStreamBody,
} from "./stream.ts";
import { urlWithoutQuery } from "./targets.ts";
import { type TestCalls, tooManyTestCalls } from "./test-calls.ts";

const STREAMS_PATH = "/organizations/:organization_id/audit-streams";
const STREAM_PATH = `${STREAMS_PATH}/:stream_id`;

export interface StreamHandlersDeps extends StreamCommandDeps {
  reads: Database;
  testCalls: TestCalls;
}

const organization_id = writtenId("The organization that the streams belong to.");
const streamParams = Type.Object({ organization_id, stream_id: idField("The stream.") });

/** Returns the check of an operation: 422 for a request with problems, 404 for a malformed id of a stream. */
function checked({ receivers: { rules } }: StreamHandlersDeps, schemas: StreamSchemas = {}) {
  return {
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
    .use(oneStreamHandlers(deps))
    .use(receiverHandlers(deps));
}

/** Returns the routes that create streams and list them. */
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
        ...checked(deps, { body: CreateStreamBody }),
        query: noQuery,
        body: CreateStreamBody,
        response: {
          201: answer(
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
        const found = await selectStreams(deps.reads, organization_id, starting_after, limit + 1);
        const { items, has_more } = page(found, limit);
        return { audit_streams: items.map(toStream), has_more };
      },
      {
        ...checked(deps, { query: listQuery }),
        query: listQuery,
        response: { 200: answer(pageSchema("audit_streams", AuditStream), "A page."), ...errors() },
        detail: operations.listAuditStreams,
      },
    );
}

/** Returns the routes that read, change and delete a stream. */
function oneStreamHandlers(deps: StreamHandlersDeps) {
  return new Elysia({ name: "audit-stream", normalize: false, prefix: STREAM_PATH })
    .guard({ params: streamParams, query: noQuery })
    .get("", ({ params }) => readStream(deps, params), {
      ...checked(deps),
      response: { 200: answer(AuditStream, "The stream."), ...errors("NOT_FOUND") },
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
        body: UpdateStreamBody,
        response: {
          200: answer(AuditStream, "The changed stream.", "details"),
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
        ...checked(deps),
        response: { 204: emptyAnswer("Deleted."), ...errors("NOT_FOUND") },
        detail: operations.deleteAuditStream,
      },
    );
}

/** Returns the routes that replace a stream's secret and call its receiver. */
function receiverHandlers(deps: StreamHandlersDeps) {
  return new Elysia({ name: "audit-stream-receiver", normalize: false, prefix: STREAM_PATH })
    .guard({ params: streamParams, query: noQuery })
    .post(
      "/rotate-secret",
      ({ params, body }) => rotateSecret(deps, params, body.overlap_seconds ?? OVERLAP_DEFAULT_S),
      {
        ...checked(deps, { body: RotateSecretBody }),
        body: RotateSecretBody,
        response: {
          200: answer(
            AuditStreamWithSecret,
            "The stream with its new secret. No other response contains the secret.",
          ),
          ...bodyErrors("NOT_FOUND", streamsOff),
        },
        detail: operations.rotateAuditStreamSecret,
      },
    )
    .post(
      "/test",
      ({ params }) => deps.testCalls.run(params.organization_id, () => testStream(deps, params)),
      {
        ...checked(deps),
        response: {
          200: answer(AuditStreamTest, "The result of the test request."),
          ...errors("NOT_FOUND", streamsOff, tooManyTestCalls),
        },
        detail: operations.testAuditStream,
      },
    );
}
