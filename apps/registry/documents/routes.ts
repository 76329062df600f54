import { Applied, Plan } from "@ostiary/lib/contracts/registry-api";
import { ConfigDocument } from "@ostiary/lib/domain/routes";
import { contextOf, describedBody } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { bodyErrors, errors, routeConflict } from "../errors.ts";
import type { Publishing } from "../publishing/publish.ts";
import { applyDocument, planDocument } from "./commands.ts";
import { DOCUMENT_TYPES, readDocument, validServices } from "./document.ts";

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
export function documentRoutes(publishing: Publishing, body_bytes_max: number) {
  return new Elysia({ name: "documents", normalize: false }).post(
    "/apply",
    async ({ request, query }) => {
      const configs = validServices(await readDocument(request, body_bytes_max));
      if (query.dry_run === "true") return planDocument(publishing.database, configs);
      return applyDocument(publishing, configs, contextOf(request).request_id);
    },
    {
      query,
      response: {
        200: Type.Union([Applied, Plan], {
          title: "ApplyAnswer",
          description: "What was written or, on a dry run, what would be.",
        }),
        ...errors(routeConflict),
        ...bodyErrors("services.widgets.url"),
      },
      detail: {
        operationId: "apply",
        tags: ["Apply"],
        summary: "Create or replace services",
        description:
          "Checks the whole document and then writes all of its services in one transaction, each with a new revision. Services that the document does not name stay as they are. When anything is refused nothing is written.",
        requestBody: describedBody(
          ConfigDocument,
          "A configuration document. Without a content type it is read as YAML, which holds JSON.",
          DOCUMENT_TYPES,
        ),
      },
    },
  );
}
