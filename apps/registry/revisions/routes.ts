import { Diff, Revision, Revisions, WrittenService } from "@ostiary/lib/contracts/registry-api";
import { listChanges } from "@ostiary/lib/domain/routes";
import { errorResponses, noQuery } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { errors, routeConflict, unknownService } from "../errors.ts";
import { waitedFor, waitQuery } from "../gateways/wait.ts";
import {
  ifMatchHeaders,
  RevisionParam,
  revisionNumber,
  serviceName,
  serviceParams,
  serviceWrite,
} from "../parameters.ts";
import type { Publishing } from "../publishing/publish.ts";
import { answerService } from "../services/routes.ts";
import { restoreRevision } from "./commands.ts";
import { listRevisions, readRevision } from "./queries.ts";
import { showRevision } from "./revision.ts";

const revisionParams = Type.Object({ ...serviceParams.properties, rev: RevisionParam });
const diffParams = Type.Object({ ...revisionParams.properties, other: RevisionParam });

/** The history of each service (Gateway specification, Endpoints; contract 3). */
export function revisionRoutes(publishing: Publishing) {
  const { database } = publishing;
  const read = (service: string, revision: string) => {
    const number = revisionNumber(revision);
    return database.run("select_revision", (orm) => readRevision(orm, service, number));
  };
  return new Elysia({ name: "revisions", normalize: false, prefix: "/services/:name/revisions" })
    .guard({ query: noQuery, response: errors(unknownService), detail: { tags: ["Revisions"] } })
    .resolve(({ params }) => ({ service: serviceName(params) }))
    .get(
      "",
      async ({ service }) => {
        const revisions = await database.run("select_revisions", (orm) => listRevisions(orm, service));
        return { revisions: revisions.map(showRevision) };
      },
      {
        params: serviceParams,
        response: { 200: Revisions },
        detail: {
          operationId: "listRevisions",
          summary: "List the revisions of a service",
          description: "Newest first, also those of a deleted service.",
        },
      },
    )
    .get("/:rev", async ({ service, params: { rev } }) => showRevision(await read(service, rev)), {
      params: revisionParams,
      response: { 200: Revision },
      detail: {
        operationId: "getRevision",
        summary: "Get a revision",
        description: "The config is null when the revision deleted the service.",
      },
    })
    .get(
      "/:rev/diff/:other",
      async ({ service, params: { rev, other } }) => {
        const before = await read(service, rev);
        const after = await read(service, other);
        return { changes: listChanges(before.config, after.config) };
      },
      {
        params: diffParams,
        response: { 200: Diff },
        detail: {
          operationId: "diffRevisions",
          summary: "Compare two revisions",
          description: "What turns the first into the second. A deleted service has nothing.",
        },
      },
    )
    .guard({ query: waitQuery })
    .post(
      "/:rev/restore",
      async ({ service, params: { rev }, query: { wait_ms }, request, set }) => {
        const write = serviceWrite(request);
        const revision = revisionNumber(rev);
        const { result, propagation } = await waitedFor(
          publishing,
          { services: [service], wait_ms, request },
          (waited) => restoreRevision(waited, service, revision, write),
        );
        return { ...answerService(set, result), propagation };
      },
      {
        params: revisionParams,
        headers: ifMatchHeaders,
        response: { 200: WrittenService, ...errorResponses(routeConflict, "PRECONDITION_FAILED") },
        detail: {
          operationId: "restoreRevision",
          summary: "Restore a revision",
          description:
            "Appends a new revision with the same config, if it passes today's rules. Works for a deleted service too; a revision that deleted the service can not be restored.",
        },
      },
    );
}
