import { Diff, Revision, Revisions, WrittenService } from "@ostiary/lib/contracts/registry-api";
import { listChanges } from "@ostiary/lib/domain/routes";
import { describeOperations, errorResponses } from "@ostiary/lib/openapi";
import { noQuery } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  foreignService,
  operatorErrors,
  routeConflict,
  unknownService,
  unreadable,
} from "../documented-errors.ts";
import { waitedFor, waitQuery } from "../gateways/wait-parameter.ts";
import type { Publishing } from "../publishing/publish.ts";
import {
  RevisionParam,
  revisionNumber,
  serviceName,
  serviceParams,
  serviceWrite,
  writeHeaders,
} from "../registry-parameters.ts";
import { respondWithService } from "../services/service-handlers.ts";
import { restoreRevision } from "./revision-commands.ts";
import { listRevisions, readableConfig, readRevision, showRevision } from "./revision-sql.ts";

const operations = describeOperations({
  listRevisions: [
    "List the revisions of a service",
    "The revisions of a current or deleted service, newest first.",
  ],
  getRevision: ["Get a revision", "The config is null when the revision deleted the service."],
  diffRevisions: [
    "Compare two revisions",
    "The changes from the first revision to the second. A deleted service counts as empty.",
  ],
  restoreRevision: [
    "Restore a revision",
    "Appends a new revision with the same config, if it passes today's rules. A deleted service can be restored too, but not a revision that deleted it.",
  ],
});

const revisionParams = Type.Object({ ...serviceParams.properties, rev: RevisionParam });
const diffParams = Type.Object({ ...revisionParams.properties, other: RevisionParam });

/** Serves the history of each service (RG-62). */
export function revisionHandlers(publishing: Publishing) {
  return new Elysia({ name: "revisions", normalize: false })
    .use(historyHandlers(publishing))
    .use(restoreHandlers(publishing));
}

const PREFIX = "/services/:name/revisions";
const tags = ["Revisions"];

/** Serves the reads of a service's history. */
function historyHandlers({ database }: Publishing) {
  const read = (service: string, revision: string) => {
    const number = revisionNumber(revision);
    return database.run("select_revision", (orm) => readRevision(orm, service, number));
  };
  return new Elysia({ name: "history", normalize: false, prefix: PREFIX, tags })
    .guard({ query: noQuery, response: operatorErrors(unknownService) })
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
        detail: operations.listRevisions,
      },
    )
    .get("/:rev", async ({ service, params: { rev } }) => showRevision(await read(service, rev)), {
      params: revisionParams,
      response: { 200: Revision },
      detail: operations.getRevision,
    })
    .get(
      "/:rev/diff/:other",
      async ({ service, params: { rev, other } }) => {
        const before = await read(service, rev);
        const after = await read(service, other);
        return { changes: listChanges(readableConfig(before), readableConfig(after)) };
      },
      {
        params: diffParams,
        response: { 200: Diff, ...operatorErrors(unreadable) },
        detail: operations.diffRevisions,
      },
    );
}

/** Serves the restore of a revision. */
function restoreHandlers(publishing: Publishing) {
  return new Elysia({ name: "restore", normalize: false, prefix: PREFIX, tags })
    .guard({ response: operatorErrors(unknownService) })
    .post(
      "/:rev/restore",
      async ({ params: { name, rev }, query: { wait_ms }, request, set }) => {
        const service = serviceName({ name });
        const write = serviceWrite(request);
        const revision = revisionNumber(rev);
        return waitedFor(publishing, { services: [service], wait_ms, request }, async (waited) =>
          respondWithService(set, await restoreRevision(waited, service, revision, write)),
        );
      },
      {
        params: revisionParams,
        query: waitQuery,
        headers: writeHeaders,
        response: {
          200: WrittenService,
          ...errorResponses(routeConflict, foreignService, "PRECONDITION_FAILED"),
        },
        detail: operations.restoreRevision,
      },
    );
}
