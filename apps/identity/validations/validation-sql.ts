import type { SharedContext } from "@ostiary/lib/async";
import { type Database, type Orm, prepared } from "@ostiary/lib/runtime/stores/database";
import { type Column, eq, type SQL, sql } from "drizzle-orm";
import { apiKeys, members, organizations, sessions, users } from "../tables.ts";
import { BatchedLookup } from "./batched-lookup.ts";
import type { CredentialRow } from "./validation.ts";

/** The deadline of a validation. The gateway waits two seconds for it. */
const VALIDATION_MS = 1_800;
/** The limits of the connections for validations. Their short reads never queue behind other reads or writes. */
export const validationLimits = { poolMax: 5, deadlineMs: VALIDATION_MS };

/** The columns of a credential's holder: the person of a user key, or a member and that member's person. */
const holder = {
  user_id: apiKeys.user_id,
  person_status: users.status,
  member_id: members.id,
  organization_id: members.organization_id,
  role: members.role,
  member_status: members.status,
  plan: organizations.plan,
};

const keysByHash = prepared((orm) =>
  orm
    .select({
      ...holder,
      hash: apiKeys.hash,
      key_id: apiKeys.id,
      revoked_at: apiKeys.revoked_at,
      expires_at: apiKeys.expires_at,
    })
    .from(apiKeys)
    .leftJoin(members, eq(members.id, apiKeys.member_id))
    .leftJoin(organizations, eq(organizations.id, members.organization_id))
    .leftJoin(users, eq(users.id, sql`coalesce(${apiKeys.user_id}, ${members.user_id})`))
    .where(isOneOf(apiKeys.hash)),
);

/** Returns the API keys with these hashes, and their holders, in one query on the unique index of hashes. */
export async function findKeys(orm: Orm, hashes: readonly string[]): Promise<Map<string, CredentialRow>> {
  return byHash(await keysByHash(orm, { hashes: asArray(hashes) }));
}

const sessionsByHash = prepared((orm) =>
  orm
    .select({
      ...holder,
      hash: sessions.hash,
      key_id: sql<null>`null`.as("key_id"),
      user_id: sql<null>`null`.as("user_id"),
      revoked_at: sql<null>`null`.as("revoked_at"),
      expires_at: sessions.expires_at,
    })
    .from(sessions)
    .innerJoin(members, eq(members.id, sessions.member_id))
    .innerJoin(organizations, eq(organizations.id, members.organization_id))
    .leftJoin(users, eq(users.id, members.user_id))
    .where(isOneOf(sessions.hash)),
);

/** Returns the sessions with these hashes, and their holders, in one query on the primary key. */
export async function findSessions(orm: Orm, hashes: readonly string[]): Promise<Map<string, CredentialRow>> {
  return byHash(await sessionsByHash(orm, { hashes: asArray(hashes) }));
}

function isOneOf(column: Column): SQL {
  return sql`${column} = any(${sql.placeholder("hashes")}::text[])`;
}

/**
 * Formats hashes as a PostgreSQL array. Hashes consist of letters, digits, `-` and `:`, which need no quotes.
 */
function asArray(hashes: readonly string[]): string {
  return `{${hashes.join()}}`;
}

function byHash<Row extends CredentialRow & { hash: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.hash, row]));
}

/** The stored credentials, by hash. */
export interface Credentials {
  readonly keys: BatchedLookup<CredentialRow>;
  readonly sessions: BatchedLookup<CredentialRow>;
}

/** Returns the credentials in a database. Concurrent look-ups share one query. */
export function credentialsIn(database: Database, tracing?: SharedContext): Credentials {
  const keys = (hashes: readonly string[]) => database.run("select_api_keys", (orm) => findKeys(orm, hashes));
  const sessions = (hashes: readonly string[]) =>
    database.run("select_sessions", (orm) => findSessions(orm, hashes));
  return { keys: new BatchedLookup(keys, tracing), sessions: new BatchedLookup(sessions, tracing) };
}
