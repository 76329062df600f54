import { describeOperations } from "@ostiary/lib/openapi";

export const SCHEMA_TYPE = "application/schema+json";

export const operations = describeOperations({
  getDocumentSchema: [
    "Get the JSON Schema of a configuration document",
    "Editors complete and check documents with this schema. The request needs no token. The response is 304 if `If-None-Match` names the current version.",
  ],
});

export const schemaResponse = {
  description: "A schema of draft-07.",
  content: { [SCHEMA_TYPE]: { schema: { type: "object" as const, description: "The schema." } } },
};
