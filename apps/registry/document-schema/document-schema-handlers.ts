import { errorResponses } from "@ostiary/lib/openapi";
import { noQuery, REVALIDATE, representationOf, respondWith } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { documentSchemaText } from "./document-schema.ts";

const SCHEMA_TYPE = "application/schema+json";

const schemaResponse = {
  description: "A schema of draft-07.",
  content: { [SCHEMA_TYPE]: { schema: { type: "object" as const, description: "The schema." } } },
};

export const SCHEMA_PATH = "/schema/routes.json";

/**
 * Serves `GET /schema/routes.json`, the JSON Schema with which editors complete and check documents (RG-91). The
 * request needs no token.
 */
export function documentSchemaHandlers() {
  const schema = representationOf(documentSchemaText(), SCHEMA_TYPE);
  return new Elysia({ name: "schema", normalize: false, tags: ["Apply"] }).get(
    SCHEMA_PATH,
    async ({ request }) => respondWith(request, await schema, REVALIDATE),
    {
      query: noQuery,
      response: errorResponses("VALIDATION_ERROR", "INTERNAL_ERROR"),
      detail: {
        operationId: "getDocumentSchema",
        summary: "Get the JSON Schema of a configuration document",
        description:
          "Editors complete and check documents with this schema. The request needs no token. The response is 304 if `If-None-Match` names the current version.",
        security: [],
        responses: { 200: schemaResponse },
      },
    },
  );
}
