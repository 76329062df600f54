import { ApiError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { updateRow } from "../rows-sql.ts";
import { apiKeys } from "../tables.ts";
import {
  type ApiKeyRow,
  type CreateApiKey,
  type CreatedApiKey,
  KEY_NAME_DEFAULT,
  lifetimeAfter,
  toApiKey,
  whyNotRotatable,
} from "./api-key.ts";
import { insertKey, lockKey, revokeKey } from "./api-key-sql.ts";
import type { OwnerAddress } from "./owners.ts";

/** Returns the row of a new key, and the response to the create request. Only the response contains the plaintext. */
function newKey({ newId, clock, secrets }: Dependencies, name: string, lifetimeMs: number | null) {
  const { hash, prefix, plaintext } = secrets.apiKey();
  const now = clock.now();
  const row = {
    id: newId(),
    name,
    key_prefix: prefix,
    created_at: new Date(now),
    expires_at: lifetimeMs === null ? null : new Date(now + lifetimeMs),
    last_used_at: null,
    revoked_at: null,
    rotated_to: null,
  };
  const created: CreatedApiKey = { ...toApiKey(row), key: plaintext };
  return { row: { ...row, hash }, created };
}

/** Creates a key. The owner cannot be removed during the insert. */
export async function createKey(
  deps: Dependencies,
  owner: OwnerAddress,
  { name, expires_in_seconds }: CreateApiKey,
): Promise<CreatedApiKey> {
  const { database } = deps;
  const lifetimeMs = expires_in_seconds === undefined ? null : expires_in_seconds * 1000;
  const { row, created } = newKey(deps, name === undefined ? KEY_NAME_DEFAULT : trimmed(name), lifetimeMs);
  const work = async (orm: Orm) => {
    if (!(await insertKey(orm, await owner.named(orm), row))) throw owner.nobody();
  };
  await database.run("create_api_key", work, { lane: await owner.lane(database) });
  return created;
}

/**
 * Replaces a key with a new one. The old key expires after the overlap, and never later than before (ID-61). Without an
 * overlap, the old key is revoked. The old key is locked: only one of several concurrent rotations succeeds (ID-62),
 * and a concurrent revocation waits.
 *
 * @throws ApiError NOT_FOUND when the owner has no such key, CONFLICT when the key is revoked, expired or rotated
 */
export async function rotateKey(
  deps: Dependencies,
  owner: OwnerAddress,
  id: string,
  overlap_seconds: number,
): Promise<CreatedApiKey> {
  const { database, clock, apiKeyMaxAgeSeconds } = deps;
  const work = async (tx: Orm) => {
    const found = await owner.find(tx, true);
    const old = await lockKey(tx, found, id);
    const now = clock.now();
    refuseNotRotatable(old, now);
    const { row, created } = newKey(deps, old.name, lifetimeAfter(old, apiKeyMaxAgeSeconds));
    await insertKey(tx, found, row);
    const overlapEndsMs = now + overlap_seconds * 1000;
    const expires_at = new Date(Math.min(overlapEndsMs, old.expires_at?.getTime() ?? overlapEndsMs));
    const revoked_at = overlap_seconds === 0 ? expires_at : null;
    await updateRow(tx, apiKeys, id, { expires_at, revoked_at, rotated_to: row.id });
    return created;
  };
  return database.transaction("rotate_api_key", work, { lane: await owner.lane(database) });
}

function refuseNotRotatable(key: ApiKeyRow, now: number): void {
  const value = whyNotRotatable(key, now);
  if (value === null) return;
  const message = {
    revoked: "This key is revoked: create a new one.",
    expired: "This key has expired: create a new one.",
    rotated: `This key was rotated already: rotate its replacement, the key ${key.rotated_to}.`,
  }[value];
  throw new ApiError("CONFLICT", { message, details: { field: "status", value } });
}

/** Revokes a key of the owner. A repeated call changes nothing. */
export async function revokeKeyOf(
  { database, clock }: Dependencies,
  owner: OwnerAddress,
  id: string,
): Promise<void> {
  const work = async (tx: Orm) => revokeKey(tx, await owner.find(tx, false), id, new Date(clock.now()));
  await database.transaction("revoke_api_key", work, { lane: await owner.lane(database) });
}
