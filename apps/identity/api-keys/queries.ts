import type { PageRequest } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, eq, inArray, isNull } from "drizzle-orm";
import { inBatches } from "../batches.ts";
import { behind, byId } from "../list-queries.ts";
import { apiKeys } from "../tables.ts";
import type { ApiKeyRow } from "./api-key.ts";

/** Whom a key belongs to: a person of the directory or a member of an organization. */
export type KeyOwner = { userId: string } | { memberId: string };

const keyColumns = {
  id: apiKeys.id,
  name: apiKeys.name,
  keyPrefix: apiKeys.keyPrefix,
  createdAt: apiKeys.createdAt,
  revokedAt: apiKeys.revokedAt,
};

function belongsTo(owner: KeyOwner) {
  return "userId" in owner ? eq(apiKeys.userId, owner.userId) : eq(apiKeys.memberId, owner.memberId);
}

export async function insertKey(tx: Orm, owner: KeyOwner, key: ApiKeyRow & { hash: string }): Promise<void> {
  await tx.insert(apiKeys).values({ ...owner, ...key });
}

export function listKeys(
  orm: Orm,
  owner: KeyOwner,
  { limit, starting_after }: PageRequest,
): Promise<ApiKeyRow[]> {
  return orm
    .select(keyColumns)
    .from(apiKeys)
    .where(and(belongsTo(owner), behind(apiKeys.id, starting_after)))
    .orderBy(byId(apiKeys.id))
    .limit(limit + 1);
}

/** Revokes a key, once; false when the owner has no such key. */
export async function revokeKey(tx: Orm, owner: KeyOwner, id: string, now: Date): Promise<boolean> {
  const own = and(eq(apiKeys.id, id), belongsTo(owner));
  const revoked = await tx
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(and(own, isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id });
  if (revoked.length > 0) return true;
  const known = await tx.select({ id: apiKeys.id }).from(apiKeys).where(own);
  return known.length > 0;
}

export async function deleteKeysOfUser(tx: Orm, userId: string): Promise<void> {
  const keys = await tx.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.userId, userId));
  await inBatches(keys, (ids) => tx.delete(apiKeys).where(inArray(apiKeys.id, ids)));
}
