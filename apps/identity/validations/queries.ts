import {
  type Database,
  type DatabaseOptions,
  type Orm,
  openDatabase,
  prepared,
} from "@ostiary/lib/runtime/stores/database";
import { eq, sql } from "drizzle-orm";
import { apiKeys, members, sessions, users } from "../tables.ts";
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

const keyByHash = prepared((orm) =>
  orm
    .select({ ...holder, key_id: apiKeys.id, revoked_at: apiKeys.revoked_at, expires_at: apiKeys.expires_at })
    .from(apiKeys)
    .leftJoin(members, eq(members.id, apiKeys.member_id))
    .leftJoin(users, eq(users.id, sql`coalesce(${apiKeys.user_id}, ${members.user_id})`))
    .where(eq(apiKeys.hash, sql.placeholder("hash"))),
);

/** The API key of this hash and its holder, in one query on the unique index of hashes. */
export async function findKey(orm: Orm, hash: string): Promise<CredentialRow | null> {
  const [row] = await keyByHash(orm, { hash });
  return row ?? null;
}

const sessionByHash = prepared((orm) =>
  orm
    .select({
      ...holder,
      key_id: sql<null>`null`.as("key_id"),
      user_id: sql<null>`null`.as("user_id"),
      revoked_at: sql<null>`null`.as("revoked_at"),
      expires_at: sessions.expires_at,
    })
    .from(sessions)
    .innerJoin(members, eq(members.id, sessions.member_id))
    .leftJoin(users, eq(users.id, members.user_id))
    .where(eq(sessions.hash, sql.placeholder("hash"))),
);

/** The session of this hash and its holder, in one query on the primary key. */
export async function findSession(orm: Orm, hash: string): Promise<CredentialRow | null> {
  const [row] = await sessionByHash(orm, { hash });
  return row ?? null;
}
