import { type Static, Type } from "@sinclair/typebox";
import { createdAt, idField, nameField, nullable, shapeOf, timeField } from "../fields.ts";
import type { apiKeys } from "../tables.ts";

export const KEY_NAME_DEFAULT = "Unnamed Key";

const fields = {
  id: idField("The key_id."),
  name: Type.String({ description: "What the key is for.", examples: ["Deploy script"] }),
  key_prefix: Type.String({
    description: "The part of the key that may be shown, to tell keys apart.",
    examples: ["ostiary-k-2-Zm9v"],
  }),
  created_at: createdAt,
  revoked_at: nullable(timeField("When it was revoked; null while it is valid.")),
};

/** An API key without its secret (Identity specification, API key; contract 5). */
export const ApiKey = Type.Object(fields, shapeOf("API key", "An API key without its secret."));
export type ApiKey = Static<typeof ApiKey>;

/** The answer of a create, the only one that holds the key itself. */
export const CreatedApiKey = Type.Object(
  {
    ...fields,
    key: Type.String({
      description: "The key itself: shown this once and stored as a hash only.",
      examples: ["ostiary-k-2-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"],
    }),
  },
  shapeOf("Created API key", "A new API key with its secret."),
);
export type CreatedApiKey = Static<typeof CreatedApiKey>;

export const CreateApiKeyBody = Type.Object(
  {
    name: Type.Optional(nameField(`What the key is for. Left out: "${KEY_NAME_DEFAULT}".`, "Deploy script")),
  },
  shapeOf("Create API key request", "A new API key."),
);

export type ApiKeyRow = Pick<
  typeof apiKeys.$inferSelect,
  "id" | "name" | "key_prefix" | "created_at" | "revoked_at"
>;

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    key_prefix: row.key_prefix,
    created_at: row.created_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}
