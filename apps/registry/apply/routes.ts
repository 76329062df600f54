import { Applied, Plan } from "@ostiary/lib/contracts/registry-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { ConfigDocument, type StoredServiceConfig, validateDocument } from "@ostiary/lib/domain/routes";
import { contextOf, requestBody } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { bodyErrors, routeConflict } from "../errors.ts";
import type { Publisher } from "../publishing/publish.ts";
import { listChanges } from "../revisions/changes.ts";
import { readServices } from "../services/queries.ts";
import { DOCUMENT_TYPES, readDocument } from "./document.ts";

export interface ApplyDeps {
  publisher: Publisher;
  database: Database;
  body_bytes_max: number;
}

const query = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Union([Type.Literal("true"), Type.Literal("false")], {
        description: "`true`: check everything and tell what would change, but write nothing.",
        rule: "must be true or false",
        openapi: { type: "boolean", default: false },
      }),
    ),
  },
  { additionalProperties: false },
);

/** `POST /apply` (Gateway specification, Endpoints; contract 3). */
export function applyRoutes({ publisher, database, body_bytes_max }: ApplyDeps) {
  return new Elysia({ name: "apply", normalize: false }).post(
    "/apply",
    async ({ request, query }) => {
      const services = validDocument(await readDocument(request, body_bytes_max));
      if (query.dry_run === "true") return plan(publisher, database, services);
      const written = await publisher.apply(services, { request_id: contextOf(request).request_id });
      return {
        results: written.map(({ service, revision }) => ({ service, status: "upserted" as const, revision })),
      };
    },
    {
      query,
      response: {
        200: Type.Union([Applied, Plan], {
          title: "ApplyAnswer",
          description: "What was written or, on a dry run, what would be.",
        }),
        ...bodyErrors("services.widgets.url", routeConflict),
      },
      detail: {
        operationId: "apply",
        tags: ["Apply"],
        summary: "Create or replace services",
        description:
          "Checks the whole document and then writes all of its services in one transaction, each with a new revision. Services that the document does not name stay as they are. When anything is refused nothing is written.",
        requestBody: requestBody(
          ConfigDocument,
          "A configuration document. Without a content type it is read as YAML, which holds JSON.",
          DOCUMENT_TYPES,
        ),
      },
    },
  );
}

/** The services of a valid document in stored form; 422 with everything that is wrong. */
export function validDocument(input: unknown): ReadonlyMap<string, StoredServiceConfig> {
  const result = validateDocument(input);
  if (!result.ok) throw validationError(result.fields);
  return result.services;
}

/** Every check of apply against one moment's state, and what would change. */
function plan(
  publisher: Publisher,
  database: Database,
  services: ReadonlyMap<string, StoredServiceConfig>,
): Promise<Plan> {
  const work = async (tx: Parameters<Parameters<Database["transaction"]>[1]>[0]) => {
    await publisher.refuseConflicts(tx, services);
    const current = await readServices(tx, [...services.keys()]);
    const results = [...services].map(([service, config]) => {
      const before = current.get(service);
      const changes = listChanges(before?.config ?? null, config);
      const status = !before ? "created" : changes.length > 0 ? "changed" : "unchanged";
      return { service, status, revision: before?.revision ?? null, changes } as const;
    });
    return { results };
  };
  return database.transaction("plan_apply", work, { isolation: "repeatable read", read_only: true });
}
