import { errorResponses } from "@ostiary/lib/openapi";
import { answerWith, noQuery, REVALIDATE, representationOf } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { documentSchemaText } from "./document-schema.ts";
import { operations, SCHEMA_TYPE, schemaResponse } from "./operation-texts.ts";

export const SCHEMA_PATH = "/schema/routes.json";

/**
 * Serves `GET /schema/routes.json`, the JSON Schema with which editors complete and check documents (RG-91). The
 * request needs no token.
 */
export function documentSchemaHandlers() {
  const schema = representationOf(documentSchemaText(), SCHEMA_TYPE);
  return new Elysia({ name: "schema", normalize: false, tags: ["Apply"] }).get(
    SCHEMA_PATH,
    async ({ request }) => answerWith(request, await schema, REVALIDATE),
    {
      query: noQuery,
      response: errorResponses("VALIDATION_ERROR", "INTERNAL_ERROR"),
      detail: { ...operations.getDocumentSchema, security: [], responses: { 200: schemaResponse } },
    },
  );
}
