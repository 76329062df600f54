import { notFound } from "@ostiary/lib/domain/errors";
import { type PageRequest, page } from "@ostiary/lib/runtime/http";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import type { Directory } from "../directory.ts";
import { trimmed } from "../fields.ts";
import { existingId } from "../ids.ts";
import { type ApiKey, type CreatedApiKey, KEY_NAME_DEFAULT, toApiKey } from "./api-key.ts";
import { insertKey, type KeyOwner, listKeys, revokeKey } from "./queries.ts";

/** Whose keys an address names. Both throw the 404 of an address that names nobody. */
export interface OwnerAddress {
  /** The lane of writers of these keys: the person, or the member's organization. */
  lane(database: Database): Promise<string>;
  /** `locked` is for a write: the owner then can not be removed before the transaction ends. */
  find(tx: Orm, locked: boolean): Promise<KeyOwner>;
}

/** Mints a key. Its plaintext is in the answer and nowhere else. */
export async function createKey(
  { database, newId, now, secrets }: Directory,
  owner: OwnerAddress,
  name: string | undefined,
): Promise<CreatedApiKey> {
  const secret = secrets.apiKey();
  const key = {
    id: newId(),
    name: name === undefined ? KEY_NAME_DEFAULT : trimmed(name),
    keyPrefix: secret.prefix,
    hash: secret.hash,
    createdAt: now(),
    revokedAt: null,
  };
  const lane = await owner.lane(database);
  await database.transaction("create_api_key", async (tx) => insertKey(tx, await owner.find(tx, true), key), {
    lane,
  });
  return { ...toApiKey(key), key: secret.plaintext };
}

export async function listKeysOf(
  { database }: Directory,
  owner: OwnerAddress,
  request: PageRequest,
): Promise<{ keys: ApiKey[]; has_more: boolean }> {
  const rows = await database.run("list_api_keys", async (orm) =>
    listKeys(orm, await owner.find(orm, false), request),
  );
  const { items, has_more } = page(rows, request.limit);
  return { keys: items.map(toApiKey), has_more };
}

/** Revokes a key of the owner; revoking it again changes nothing. */
export async function revokeKeyOf(
  { database, now }: Directory,
  owner: OwnerAddress,
  keyId: string,
): Promise<void> {
  const id = existingId("api_key", keyId);
  const lane = await owner.lane(database);
  const found = await database.transaction(
    "revoke_api_key",
    async (tx) => revokeKey(tx, await owner.find(tx, false), id, now()),
    { lane },
  );
  if (!found) throw notFound("api_key", keyId);
}

/** What the audit log is told of a new key. */
export function keyNote({ id, key_prefix, name }: ApiKey) {
  return { details: { key_id: id, key_prefix, name }, created: id };
}
