import { Deleted, revisionTag, Service, Services, WrittenService } from "@ostiary/lib/contracts/registry-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { ServiceConfig, validateService } from "@ostiary/lib/domain/routes";
import { describeOperations, errorResponses } from "@ostiary/lib/openapi";
import { describedBody, noQuery } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { type Context, Elysia } from "elysia";
import {
  foreignService,
  operatorErrors,
  routeConflict,
  unknownService,
  unreadable,
  wrongUrl,
} from "../documented-errors.ts";
import { readJson } from "../documents/document.ts";
import { waitedFor, waitQuery } from "../gateways/wait-parameter.ts";
import type { Publishing } from "../publishing/publish.ts";
import { serviceName, serviceParams, serviceWrite, writeHeaders } from "../registry-parameters.ts";
import { type CurrentService, showService, showServices } from "./service.ts";
import { deleteService, putService } from "./service-commands.ts";
import { listServices, readService } from "./service-sql.ts";

const operations = describeOperations({
  listServices: [
    "List the current services",
    "All current services in stored form, without deleted ones. `unreadable` names services that a newer version of Ostiary wrote in a form that this version does not understand; gateways of the newer version serve them.",
  ],
  getService: ["Get a service", "The current config in stored form. The ETag is the revision, for If-Match."],
  putService: [
    "Create or replace a service",
    "Makes the same checks as `POST /apply`. A deleted service becomes current again.",
  ],
  deleteService: [
    "Delete a service",
    "Unpublishes the service's routes and keeps its history, so that a revision can be restored.",
  ],
});

const SERVICE_BODY = "The service, as in a configuration document.";

const PREFIX = "/services/:name";
const tags = ["Services"];

/** Serves the services (RG-45, RG-59). */
export function serviceHandlers(publishing: Publishing, bodyBytesMax: number) {
  const { database } = publishing;
  return (
    new Elysia({ name: "services", normalize: false, tags })
      .get("/services", async () => showServices(await database.run("select_services", listServices)), {
        query: noQuery,
        response: { 200: Services, ...operatorErrors() },
        detail: operations.listServices,
      })
      // these operations refuse a query, so that `DELETE …?dry_run=true` does not delete
      .get(
        PREFIX,
        async ({ params, set }) => {
          const name = serviceName(params);
          return respondWithService(
            set,
            await database.run("select_service", (orm) => readService(orm, name)),
          );
        },
        {
          query: noQuery,
          params: serviceParams,
          response: { 200: Service, ...operatorErrors(unknownService, unreadable) },
          detail: operations.getService,
        },
      )
      .use(serviceWriteHandlers(publishing, bodyBytesMax))
  );
}

const writeSchemas = {
  params: serviceParams,
  query: waitQuery,
  headers: writeHeaders,
  response: errorResponses("PRECONDITION_FAILED", foreignService),
};

/** Serves the writes of one service. */
function serviceWriteHandlers(publishing: Publishing, bodyBytesMax: number) {
  return new Elysia({ name: "service-writes", normalize: false, prefix: PREFIX, tags })
    .guard(writeSchemas)
    .put(
      "",
      async ({ params: { name }, query: { wait_ms }, request, set }) => {
        const write = serviceWrite(request);
        const valid = validateService(name, await readJson(request, bodyBytesMax));
        if (!valid.ok) throw validationError(valid.fields);
        return waitedFor(publishing, { services: [name], wait_ms, request }, async (waited) =>
          respondWithService(set, await putService(waited, name, valid.service, write)),
        );
      },
      {
        response: {
          200: WrittenService,
          ...operatorErrors(routeConflict, "PAYLOAD_TOO_LARGE"),
          ...errorResponses(wrongUrl("url")),
        },
        detail: { ...operations.putService, requestBody: describedBody(ServiceConfig, SERVICE_BODY) },
      },
    )
    .delete(
      "",
      async ({ params, query: { wait_ms }, request, set }) => {
        const name = serviceName(params);
        const write = serviceWrite(request);
        const { propagation } = await waitedFor(
          publishing,
          { services: [name], wait_ms, request },
          (waited) => deleteService(waited, name, write).then(() => ({})),
        );
        if (propagation !== undefined) return { propagation };
        set.status = 204;
        return undefined;
      },
      {
        response: {
          200: Deleted,
          204: Type.Void({ description: "Deleted." }),
          ...operatorErrors(unknownService),
        },
        detail: operations.deleteService,
      },
    );
}

/** Sets the ETag to the service's revision, and returns the response body. */
export function respondWithService(set: Context["set"], service: CurrentService): Service {
  set.headers.etag = revisionTag(service.revision);
  return showService(service);
}
