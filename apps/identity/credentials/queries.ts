import {
  type Database,
  type DatabaseOptions,
  type Orm,
  openDatabase,
} from "@ostiary/lib/runtime/stores/database";
import { eq, sql } from "drizzle-orm";
import { apiKeys, members, sessions, users } from "../tables.ts";
import type { CredentialRow } from "./rules.ts";

const CONNECTIONS = 5;

/** Connections for validations: each is one short read, and no queue of writers or readers is before it. */
export function openValidations(url: string, options: DatabaseOptions): Promise<Database> {
  return openDatabase(url, { pool_max: CONNECTIONS, ...options });
}

/** Whom a credential stands for: its person, for a user key, or its member and that member's person. */
const holder = {
  userId: apiKeys.userId,
  personStatus: users.status,
  memberId: members.id,
  organizationId: members.organizationId,
  role: members.role,
  memberStatus: members.status,
};

/** The API key of this hash and its holder, in one query on the unique index of hashes. */
export async function findKey(orm: Orm, hash: string): Promise<CredentialRow | null> {
  const [row] = await orm
    .select({ ...holder, revokedAt: apiKeys.revokedAt, expiresAt: sql<null>`null` })
    .from(apiKeys)
    .leftJoin(members, eq(members.id, apiKeys.memberId))
    .leftJoin(users, eq(users.id, sql`coalesce(${apiKeys.userId}, ${members.userId})`))
    .where(eq(apiKeys.hash, hash));
  return row ?? null;
}

/** The session of this hash and its holder, in one query on the primary key. */
export async function findSession(orm: Orm, hash: string): Promise<CredentialRow | null> {
  const [row] = await orm
    .select({
      ...holder,
      userId: sql<null>`null`,
      revokedAt: sql<null>`null`,
      expiresAt: sessions.expiresAt,
    })
    .from(sessions)
    .innerJoin(members, eq(members.id, sessions.memberId))
    .leftJoin(users, eq(users.id, members.userId))
    .where(eq(sessions.hash, hash));
  return row ?? null;
}
