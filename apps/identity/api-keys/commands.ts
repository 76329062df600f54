import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { type CreateApiKey, type CreatedApiKey, KEY_NAME_DEFAULT, toApiKey } from "./api-key.ts";
import type { OwnerAddress } from "./owners.ts";
import { insertKey, revokeKey } from "./queries.ts";

/** Mints a key, with its owner locked. The plaintext is in the answer and nowhere else. */
export async function createKey(
  { database, newId, clock, secrets }: Dependencies,
  owner: OwnerAddress,
  { name, expires_in_seconds }: CreateApiKey,
): Promise<CreatedApiKey> {
  const secret = secrets.apiKey();
  const now = clock.now();
  const key = {
    id: newId(),
    name: name === undefined ? KEY_NAME_DEFAULT : trimmed(name),
    key_prefix: secret.prefix,
    hash: secret.hash,
    created_at: new Date(now),
    expires_at: expires_in_seconds === undefined ? null : new Date(now + expires_in_seconds * 1000),
    last_used_at: null,
    revoked_at: null,
  };
  const work = async (tx: Orm) => insertKey(tx, await owner.find(tx, true), key);
  await database.transaction("create_api_key", work, { lane: await owner.lane(database) });
  return { ...toApiKey(key), key: secret.plaintext };
}

/** Revokes a key of the owner; revoking it again changes nothing. */
export async function revokeKeyOf(
  { database, clock }: Dependencies,
  owner: OwnerAddress,
  id: string,
): Promise<void> {
  const work = async (tx: Orm) => revokeKey(tx, await owner.find(tx, false), id, new Date(clock.now()));
  await database.transaction("revoke_api_key", work, { lane: await owner.lane(database) });
}
