import { Diff, Revision, Revisions, revisionTag, Service } from "@ostiary/lib/contracts/registry-api";
import { contextOf } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { errors, routeConflict, unknownService } from "../errors.ts";
import {
  ifMatchHeaders,
  noQuery,
  RevisionParam,
  revisionNumber,
  serviceName,
  serviceParams,
} from "../parameters.ts";
import { readPrecondition } from "../publishing/precondition.ts";
import type { Publisher } from "../publishing/publish.ts";
import { listChanges } from "./changes.ts";
import { listRevisions, readRevision } from "./queries.ts";

export interface RevisionDeps {
  publisher: Publisher;
  database: Database;
}

const revisionParams = Type.Object({ ...serviceParams.properties, rev: RevisionParam });
const diffParams = Type.Object({ ...revisionParams.properties, other: RevisionParam });

const tags = ["Revisions"];
const readErrors = errors(unknownService);

/** The history of each service (Gateway specification, Endpoints; contract 3). */
export function revisionRoutes({ publisher, database }: RevisionDeps) {
  const read = (service: string, revision: number) =>
    database.run("select_revision", (orm) => readRevision(orm, service, revision));
  return new Elysia({ name: "revisions", normalize: false })
    .get(
      "/services/:name/revisions",
      async ({ params }) => ({
        revisions: await database.run("select_revisions", (orm) => listRevisions(orm, serviceName(params))),
      }),
      {
        params: serviceParams,
        query: noQuery,
        response: { 200: Revisions, ...readErrors },
        detail: {
          operationId: "listRevisions",
          tags,
          summary: "List the revisions of a service",
          description: "Newest first, also those of a deleted service.",
        },
      },
    )
    .get(
      "/services/:name/revisions/:rev",
      ({ params }) => read(serviceName(params), revisionNumber(params.rev)),
      {
        params: revisionParams,
        query: noQuery,
        response: { 200: Revision, ...readErrors },
        detail: {
          operationId: "getRevision",
          tags,
          summary: "Get a revision",
          description: "The config is null when the revision deleted the service.",
        },
      },
    )
    .get(
      "/services/:name/revisions/:rev/diff/:other",
      async ({ params }) => {
        const before = await read(serviceName(params), revisionNumber(params.rev));
        const after = await read(serviceName(params), revisionNumber(params.other));
        return { changes: listChanges(before.config, after.config) };
      },
      {
        params: diffParams,
        query: noQuery,
        response: { 200: Diff, ...readErrors },
        detail: {
          operationId: "diffRevisions",
          tags,
          summary: "Compare two revisions",
          description: "What turns the first into the second. A deleted service has nothing.",
        },
      },
    )
    .post(
      "/services/:name/revisions/:rev/restore",
      async ({ params, request, set }) => {
        const name = serviceName(params);
        const precondition = readPrecondition(request);
        const { request_id } = contextOf(request);
        const written = await publisher.restore(name, revisionNumber(params.rev), precondition, {
          request_id,
        });
        set.headers.etag = revisionTag(written.revision);
        return { name, revision: written.revision, ...written.config };
      },
      {
        params: revisionParams,
        headers: ifMatchHeaders,
        query: noQuery,
        response: {
          200: Service,
          ...errors(unknownService, routeConflict, "PRECONDITION_FAILED"),
        },
        detail: {
          operationId: "restoreRevision",
          tags,
          summary: "Restore a revision",
          description:
            "Appends a new revision with the same config, if it passes today's rules. Works for a deleted service too; a revision that deleted the service can not be restored.",
        },
      },
    );
}
