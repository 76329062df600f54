import { notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Directory } from "../directory.ts";
import { lockMembership } from "../members/queries.ts";
import { findUser } from "../users/queries.ts";
import { insertSession } from "./queries.ts";
import { SESSION_MS, type Session } from "./session.ts";

/**
 * Mints a session for a person who is an active member of an organization; 404 for anyone else, and for a
 * person who is suspended and so active nowhere. The member is locked, so that a removal under way is seen,
 * or sees the session.
 */
export function mintSession(
  { database, roles, now, secrets }: Directory,
  userId: string,
  organizationId: string,
): Promise<Session> {
  const secret = secrets.session();
  const work = async (tx: Orm) => {
    const person = await findUser(tx, userId);
    if (person?.status !== "active") throw notFound();
    const member = await lockMembership(tx, organizationId, userId);
    if (member?.status !== "active") throw notFound();
    const createdAt = now();
    const expiresAt = new Date(createdAt.getTime() + SESSION_MS);
    await insertSession(tx, { hash: secret.hash, memberId: member.id, createdAt, expiresAt });
    return {
      token: secret.plaintext,
      expires_at: expiresAt.toISOString(),
      member_id: member.id,
      organization_id: organizationId,
      role: roles.shown(member.role),
      labels: roles.labelsOf(member.role),
    };
  };
  return database.transaction("mint_session", work, { lane: organizationId });
}
