import { notFound } from "@ostiary/lib/domain/errors";
import type { PageRequest } from "@ostiary/lib/runtime/http";
import { type Orm, preparedRows, rows } from "@ostiary/lib/runtime/stores/database";
import {
  and,
  type Column,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNull,
  lte,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { byId, idAfter, inBatches } from "../rows-sql.ts";
import { apiKeys, members, users } from "../tables.ts";
import type { ApiKeyRow } from "./api-key.ts";
import type { KeyFilter } from "./filters.ts";
import type { LastUse } from "./last-use-buffer.ts";

/** The owner of a key: a person of the directory, or a member of an organization. */
export type KeyOwner = { user_id: string } | { member_id: string };

/** The columns of a key without its hash, which no response needs. */
const { hash: _, ...keyColumns } = getTableColumns(apiKeys);

function belongsTo(owner: KeyOwner) {
  return "user_id" in owner ? eq(apiKeys.user_id, owner.user_id) : eq(apiKeys.member_id, owner.member_id);
}

/**
 * Builds a statement that inserts a key unless the key exists, so that the statement can be retried. Its result is
 * the owner's row, or no row for an unknown owner. Two concurrent attempts can conflict on the hash or on the id, so
 * `on conflict` names no constraint.
 */
const insertUnder = (owner: SQL, column: Column) =>
  preparedRows<{ id: string }>(sql`
    with owner as materialized (${owner}), inserted as (
      insert into ${apiKeys} (id, ${sql.identifier(column.name)}, name, key_prefix, hash, created_at, expires_at)
      select ${sql.placeholder("id")}, owner.id, ${sql.placeholder("name")}, ${sql.placeholder("key_prefix")},
        ${sql.placeholder("hash")}, ${sql.placeholder("created_at")}::timestamptz,
        ${sql.placeholder("expires_at")}::timestamptz
      from owner on conflict do nothing
    )
    select id from owner`);
const owner_id = sql.placeholder("owner_id");
const insertUserKey = insertUnder(
  sql`select id from ${users} where id = ${owner_id} for key share`,
  apiKeys.user_id,
);
const insertMemberKey = insertUnder(
  sql`select id from ${members} where id = ${owner_id} and status <> 'removed' for share`,
  apiKeys.member_id,
);

/**
 * Stores a new key in one statement, which also prevents the removal of the owner. Returns false and writes nothing
 * when the owner does not exist.
 */
export async function insertKey(
  orm: Orm,
  owner: KeyOwner,
  key: Omit<ApiKeyRow, "rotated_to"> & { hash: string },
): Promise<boolean> {
  const [owned] =
    "user_id" in owner
      ? await insertUserKey(orm, { ...key, owner_id: owner.user_id })
      : await insertMemberKey(orm, { ...key, owner_id: owner.member_id });
  return owned !== undefined;
}

function fits({ now, unusedSince, expiresUntil }: KeyFilter): SQL | undefined {
  const lastUsed = sql`coalesce(${apiKeys.last_used_at}, ${apiKeys.created_at})`;
  return and(
    isNull(apiKeys.revoked_at),
    or(isNull(apiKeys.expires_at), gt(apiKeys.expires_at, now)),
    unusedSince === null ? undefined : lte(lastUsed, unusedSince),
    expiresUntil === null ? undefined : lte(apiKeys.expires_at, expiresUntil),
  );
}

export function listKeys(
  orm: Orm,
  owner: KeyOwner,
  { limit, starting_after }: PageRequest,
  filter: KeyFilter | null = null,
): Promise<ApiKeyRow[]> {
  return orm
    .select(keyColumns)
    .from(apiKeys)
    .where(
      and(belongsTo(owner), filter === null ? undefined : fits(filter), idAfter(apiKeys.id, starting_after)),
    )
    .orderBy(byId(apiKeys.id))
    .limit(limit + 1);
}

/** Locks a key for a change and returns it; throws a 404 when the owner has no such key. */
export async function lockKey(tx: Orm, owner: KeyOwner, id: string): Promise<ApiKeyRow> {
  const [row] = await tx
    .select(keyColumns)
    .from(apiKeys)
    .where(and(eq(apiKeys.id, id), belongsTo(owner)))
    .for("no key update");
  if (row === undefined) throw notFound("api_key", id);
  return row;
}

/** Revokes a key unless it is revoked already; throws a 404 when the owner has no such key. */
export async function revokeKey(tx: Orm, owner: KeyOwner, id: string, now: Date): Promise<void> {
  const own = and(eq(apiKeys.id, id), belongsTo(owner));
  const revoked = await tx
    .update(apiKeys)
    .set({ revoked_at: now })
    .where(and(own, isNull(apiKeys.revoked_at)))
    .returning({ id: apiKeys.id });
  if (revoked.length > 0) return;
  const known = await tx.select({ id: apiKeys.id }).from(apiKeys).where(own);
  if (known.length === 0) throw notFound("api_key", id);
}

/**
 * Stores the last uses of keys, and the new hashes that some uses contain. Keeps a stored use that is later. Returns
 * the ids of keys that another transaction holds locked. Never waits for a lock, which avoids deadlocks.
 */
export async function writeLastUses(orm: Orm, uses: readonly LastUse[]): Promise<string[]> {
  const values = JSON.stringify(uses.map(({ atMs, ...use }) => ({ ...use, at: new Date(atMs) })));
  const isNewer = sql`(key.last_used_at is null or key.last_used_at < used.at)`;
  // if a secret was imported twice, both rows keep their hashes
  const isTaken = sql`exists (select from ${apiKeys} other where other.hash = used.new_hash)`;
  const locked = await rows<{ id: string }>(
    orm,
    sql`
      with used as (
        select * from jsonb_to_recordset(${values}::jsonb) as used (id text, at timestamptz(3), new_hash text)
      ), free as materialized (
        select key.id, used.at, case when not ${isTaken} then used.new_hash end as new_hash
        from ${apiKeys} key join used on used.id = key.id where ${isNewer}
        for no key update of key skip locked
      ), stored as (
        update ${apiKeys} key set last_used_at = free.at, hash = coalesce(free.new_hash, key.hash)
        from free where key.id = free.id
      )
      select key.id from ${apiKeys} key join used on used.id = key.id
      where ${isNewer} and not exists (select from free where free.id = key.id)`,
  );
  return locked.map(({ id }) => id);
}

export async function deleteKeysOfUser(tx: Orm, user_id: string): Promise<void> {
  const keys = await tx.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.user_id, user_id));
  await inBatches(keys, (ids) => tx.delete(apiKeys).where(inArray(apiKeys.id, ids)));
}
