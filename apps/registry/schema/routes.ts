import { answerWith, errorResponses, noQuery, REVALIDATE, representationOf } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { documentSchemaText } from "./document-schema.ts";

export const SCHEMA_PATH = "/schema/routes.json";
const SCHEMA_TYPE = "application/schema+json";

/** `GET /schema/routes.json`, which needs no token: editors complete and check documents by it (contract 3). */
export function schemaRoutes() {
  const schema = representationOf(documentSchemaText(), SCHEMA_TYPE);
  return new Elysia({ name: "schema", normalize: false }).get(
    SCHEMA_PATH,
    async ({ request }) => answerWith(request, await schema, REVALIDATE),
    {
      query: noQuery,
      response: errorResponses("VALIDATION_ERROR", "INTERNAL_ERROR"),
      detail: {
        operationId: "getDocumentSchema",
        tags: ["Apply"],
        summary: "Get the JSON Schema of a configuration document",
        description:
          "For editors, which complete and check documents by it. Needs no token. Answers 304 to an `If-None-Match` that names what there is.",
        security: [],
        responses: {
          200: {
            description: "A schema of draft-07.",
            content: { [SCHEMA_TYPE]: { schema: { type: "object", description: "The schema." } } },
          },
        },
      },
    },
  );
}
