import { notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Dependencies } from "../dependencies.ts";
import { lockMembership } from "../members/member-sql.ts";
import { sessions } from "../tables.ts";
import { findUser } from "../users/user-sql.ts";
import { SESSION_MS, type Session } from "./session-shapes.ts";

/**
 * Creates a session for an active person who is an active member of an organization; throws a 404 for anyone
 * else. Locks the member: a concurrent removal either commits first, or deletes the session.
 */
export function mintSession(
  { database, roles, clock, secrets }: Dependencies,
  user_id: string,
  organization_id: string,
): Promise<Session> {
  const secret = secrets.session();
  const work = async (tx: Orm) => {
    const person = await findUser(tx, user_id);
    if (person?.status !== "active") throw notFound();
    const member = await lockMembership(tx, organization_id, user_id);
    if (member?.status !== "active") throw notFound();
    const now = clock.now();
    const expires_at = new Date(now + SESSION_MS);
    const created_at = new Date(now);
    await tx.insert(sessions).values({ hash: secret.hash, member_id: member.id, created_at, expires_at });
    return {
      token: secret.plaintext,
      expires_at: expires_at.toISOString(),
      member_id: member.id,
      organization_id,
      role: roles.shown(member.role),
      labels: roles.labelsOf(member.role),
    };
  };
  return database.transaction("mint_session", work, { lane: organization_id });
}
