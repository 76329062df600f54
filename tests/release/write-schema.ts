import { documentSchemaText } from "../../apps/registry/document-schema/document-schema.ts";

/** Writes the JSON Schema of documents, which editors read. */
await Bun.write("seeds/routes.schema.json", documentSchemaText());
