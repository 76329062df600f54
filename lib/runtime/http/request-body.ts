import type { TSchema } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";

type RequestBody = NonNullable<DocumentDecoration["requestBody"]>;

/** OpenAPI text, for `detail`, of a body that its route reads itself (`parse_bodies: false`). */
export function requestBody(
  schema: TSchema,
  description: string,
  contentTypes: readonly string[] = ["application/json"],
): RequestBody {
  return {
    required: true,
    description,
    content: Object.fromEntries(contentTypes.map((type) => [type, { schema: asOpenApi(schema) }])),
  };
}

/** A TypeBox schema is JSON Schema, which OpenAPI 3.1 holds as it is. */
function asOpenApi(schema: TSchema): Record<string, never> {
  // biome-ignore lint/plugin: see above
  return schema as TSchema & Record<string, never>;
}
