import { revisionTag, Service, Services } from "@ostiary/lib/contracts/registry-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { ServiceConfig, validateService } from "@ostiary/lib/domain/routes";
import { contextOf, requestBody } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { readJson } from "../apply/document.ts";
import { bodyErrors, errors, routeConflict, unknownService } from "../errors.ts";
import { ifMatchHeaders, noQuery, serviceName, serviceParams } from "../parameters.ts";
import { readPrecondition } from "../publishing/precondition.ts";
import type { Publisher } from "../publishing/publish.ts";
import { listServices, readService } from "./queries.ts";

export interface ServiceDeps {
  publisher: Publisher;
  database: Database;
  body_bytes_max: number;
}

const tags = ["Services"];

/** The services themselves (Gateway specification, Endpoints; contract 3). */
export function serviceRoutes({ publisher, database, body_bytes_max }: ServiceDeps) {
  return new Elysia({ name: "services", normalize: false })
    .get(
      "/services",
      async () => ({
        services: Object.fromEntries(await database.run("select_services", (orm) => listServices(orm))),
      }),
      {
        query: noQuery,
        response: {
          200: Services,
          ...errors(),
        },
        detail: {
          operationId: "listServices",
          tags,
          summary: "List the current services",
          description: "All of them, in expanded form. Deleted services are left out.",
        },
      },
    )
    .get(
      "/services/:name",
      async ({ params, set }) => {
        const service = await database.run("select_service", (orm) => readService(orm, serviceName(params)));
        set.headers.etag = revisionTag(service.revision);
        return service;
      },
      {
        params: serviceParams,
        query: noQuery,
        response: {
          200: Service,
          ...errors(unknownService),
        },
        detail: {
          operationId: "getService",
          tags,
          summary: "Get a service",
          description: "The current config in expanded form. The ETag is the revision, for If-Match.",
        },
      },
    )
    .put(
      "/services/:name",
      async ({ params: { name }, request, set }) => {
        const precondition = readPrecondition(request);
        const result = validateService(name, await readJson(request, body_bytes_max));
        if (!result.ok) throw validationError(result.fields);
        const { request_id } = contextOf(request);
        const { revision, config } = await publisher.put(name, result.service, precondition, { request_id });
        set.headers.etag = revisionTag(revision);
        return { name, revision, ...config };
      },
      {
        params: serviceParams,
        headers: ifMatchHeaders,
        query: noQuery,
        response: {
          200: Service,
          ...bodyErrors("url", routeConflict, "PRECONDITION_FAILED"),
        },
        detail: {
          operationId: "putService",
          tags,
          summary: "Create or replace a service",
          description: "With the checks of apply. A deleted service is current again.",
          requestBody: requestBody(ServiceConfig, "The service, as in a configuration document."),
        },
      },
    )
    .delete(
      "/services/:name",
      async ({ params, request, set }) => {
        const { request_id } = contextOf(request);
        await publisher.delete(serviceName(params), readPrecondition(request), { request_id });
        set.status = 204;
      },
      {
        params: serviceParams,
        headers: ifMatchHeaders,
        query: noQuery,
        response: {
          204: Type.Void({ description: "Deleted." }),
          ...errors(unknownService, "PRECONDITION_FAILED"),
        },
        detail: {
          operationId: "deleteService",
          tags,
          summary: "Delete a service",
          description: "Its routes are unpublished, its history is kept: a revision can be restored.",
        },
      },
    );
}
