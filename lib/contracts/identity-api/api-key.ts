import { type Static, Type } from "@sinclair/typebox";
import { idField, mostlyNull, nullable, textField, timeField } from "../../domain/schemas/index.ts";
import { created_at, shapeOf } from "./fields.ts";

const fields = {
  id: idField("The key_id."),
  name: textField("The purpose of the key.", "Deploy script"),
  key_prefix: textField(
    "The first characters of the key, which may be shown to tell keys apart.",
    "ostiary-k-2-Zm9v",
  ),
  created_at,
  expires_at: nullable(timeField("The time when the key expires, or null if it never expires.")),
  last_used_at: nullable(
    timeField(
      "The time when identity last accepted the key, or null if it never did. The gateway asks identity only when it has no cached result. Identity stores the time within 15 seconds.",
    ),
  ),
  revoked_at: mostlyNull(
    timeField(
      "The time when the key was revoked, or rotated without an overlap. Null means that neither happened.",
    ),
  ),
};

export const ApiKey = Type.Object(fields, shapeOf("API key", "An API key without its secret."));
export type ApiKey = Static<typeof ApiKey>;

export const CreatedApiKey = Type.Object(
  {
    ...fields,
    key: textField(
      "The full key, a secret. Only this response contains the key; identity stores only its hash.",
      "ostiary-k-2-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF",
    ),
  },
  shapeOf("Created API key", "A new API key with its secret."),
);
export type CreatedApiKey = Static<typeof CreatedApiKey>;
