import { ApiKey, CreatedApiKey } from "@ostiary/lib/contracts/identity-api";
import { type Static, Type } from "@sinclair/typebox";
import { nameField, shapeOf } from "../fields.ts";
import type { apiKeys } from "../tables.ts";

export { ApiKey, CreatedApiKey };

export const KEY_NAME_DEFAULT = "Unnamed Key";
export const KEY_SECONDS_MIN = 60;
export const KEY_SECONDS_MAX = 315_360_000;

const name = Type.Optional(
  nameField(`The purpose of the key. Default: "${KEY_NAME_DEFAULT}".`, "Deploy script"),
);
const SECONDS_EXAMPLE = 90 * 24 * 60 * 60;

function lifetimeField(secondsMax: number, description: string) {
  return Type.Integer({
    minimum: KEY_SECONDS_MIN,
    maximum: secondsMax,
    description,
    examples: [Math.min(SECONDS_EXAMPLE, secondsMax)],
    rule: `must be a whole number from ${KEY_SECONDS_MIN} to ${secondsMax}`,
  });
}

const createShape = shapeOf("Create API key request", "A new API key.");
const anyLifetime = Type.Optional(
  lifetimeField(KEY_SECONDS_MAX, "Seconds until the key expires. If absent, the key never expires."),
);
const CreateApiKeyBody = Type.Object({ name, expires_in_seconds: anyLifetime }, createShape);
export type CreateApiKey = Static<typeof CreateApiKeyBody>;

/** Returns the schema of a create request. If keys have a maximum age, a request must set a lifetime up to that age. */
export function createApiKeyBody(maxAgeSeconds: number | null) {
  if (maxAgeSeconds === null) return CreateApiKeyBody;
  const lifetime = lifetimeField(
    maxAgeSeconds,
    "Seconds until the key expires. Required: this deployment limits the age of keys.",
  );
  return Type.Unsafe<CreateApiKey>(Type.Object({ name, expires_in_seconds: lifetime }, createShape));
}

const OVERLAP_SECONDS_MAX = 604_800;

export const RotateApiKeyBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: OVERLAP_SECONDS_MAX,
        description: "The seconds for which the old key stays valid beside the new key. The default is 0.",
        examples: [3600],
        rule: `must be a whole number from 0 to ${OVERLAP_SECONDS_MAX}`,
      }),
    ),
  },
  shapeOf("Rotate API key request", "How long the old key stays valid."),
);

/** A key without its hash and its owner. */
export type ApiKeyRow = Omit<typeof apiKeys.$inferSelect, "hash" | "user_id" | "member_id">;

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    key_prefix: row.key_prefix,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

/** Returns the reason why a key cannot be rotated, or null if it can. */
export function whyNotRotatable(
  { revoked_at, rotated_to, expires_at }: ApiKeyRow,
  now: number,
): "revoked" | "rotated" | "expired" | null {
  if (rotated_to !== null) return "rotated";
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at.getTime() <= now ? "expired" : null;
}

/** Returns the lifetime of a replacement key: the lifetime of the old key, up to the maximum age. */
export function lifetimeAfter(
  { created_at, expires_at }: ApiKeyRow,
  maxAgeSeconds: number | null,
): number | null {
  const lifetimeMs = expires_at === null ? null : expires_at.getTime() - created_at.getTime();
  if (maxAgeSeconds === null) return lifetimeMs;
  return Math.min(lifetimeMs ?? Number.POSITIVE_INFINITY, maxAgeSeconds * 1000);
}
