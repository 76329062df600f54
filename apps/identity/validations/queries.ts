import {
  type Database,
  type DatabaseOptions,
  type Orm,
  openDatabase,
  prepared,
} from "@ostiary/lib/runtime/stores/database";
import type { SharedWorkTracing } from "@ostiary/lib/runtime/telemetry";
import { type Column, eq, type SQL, sql } from "drizzle-orm";
import { apiKeys, members, sessions, users } from "../tables.ts";
import { GatheredLookup } from "./gathered-lookup.ts";
import type { CredentialRow } from "./validation.ts";

const CONNECTIONS = 5;

/** Connections for validations: each is one short read, and no queue of writers or readers is before it. */
export function openValidations(url: string, options: DatabaseOptions): Promise<Database> {
  return openDatabase(url, { pool_max: CONNECTIONS, ...options });
}

/** Whom a credential stands for: its person, for a user key, or its member and that member's person. */
const holder = {
  user_id: apiKeys.user_id,
  person_status: users.status,
  member_id: members.id,
  organization_id: members.organization_id,
  role: members.role,
  member_status: members.status,
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
    .leftJoin(users, eq(users.id, sql`coalesce(${apiKeys.user_id}, ${members.user_id})`))
    .where(isOneOf(apiKeys.hash)),
);

/** The API keys of these hashes with their holders, in one query on the unique index of hashes. */
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
    .leftJoin(users, eq(users.id, members.user_id))
    .where(isOneOf(sessions.hash)),
);

/** The sessions of these hashes with their holders, in one query on the primary key. */
export async function findSessions(orm: Orm, hashes: readonly string[]): Promise<Map<string, CredentialRow>> {
  return byHash(await sessionsByHash(orm, { hashes: asArray(hashes) }));
}

function isOneOf(column: Column): SQL {
  return sql`${column} = any(${sql.placeholder("hashes")}::text[])`;
}

/** As PostgreSQL writes an array. Hashes are of letters, digits, `-` and `:`, none of which needs quotes. */
function asArray(hashes: readonly string[]): string {
  return `{${hashes.join()}}`;
}

function byHash<Row extends CredentialRow & { hash: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.hash, row]));
}

/** Stored credentials, by the hashes of their texts. */
export interface Credentials {
  readonly keys: GatheredLookup<CredentialRow>;
  readonly sessions: GatheredLookup<CredentialRow>;
}

/** Those in a database: the ones that are asked for at the same time by one query. */
export function credentialsIn(database: Database, tracing?: SharedWorkTracing): Credentials {
  const keys = (hashes: readonly string[]) => database.run("select_api_keys", (orm) => findKeys(orm, hashes));
  const sessions = (hashes: readonly string[]) =>
    database.run("select_sessions", (orm) => findSessions(orm, hashes));
  return { keys: new GatheredLookup(keys, tracing), sessions: new GatheredLookup(sessions, tracing) };
}
