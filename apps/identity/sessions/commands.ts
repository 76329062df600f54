import { Loop } from "@ostiary/lib/async";
import { notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { Dependencies } from "../dependencies.ts";
import { lockMembership } from "../members/queries.ts";
import { findUser } from "../users/queries.ts";
import { deleteExpiredSessions, insertSession } from "./queries.ts";
import { SESSION_MS, type Session } from "./session.ts";

/**
 * Mints a session for a person who is an active member of an organization; 404 for anyone else, and for a
 * person who is suspended and so active nowhere. The member is locked, so that a removal under way is seen,
 * or sees the session.
 */
export function mintSession(
  { database, roles, clock, secrets }: Dependencies,
  userId: string,
  organizationId: string,
): Promise<Session> {
  const secret = secrets.session();
  const work = async (tx: Orm) => {
    const person = await findUser(tx, userId);
    if (person?.status !== "active") throw notFound();
    const member = await lockMembership(tx, organizationId, userId);
    if (member?.status !== "active") throw notFound();
    const now = clock.now();
    const expires_at = new Date(now + SESSION_MS);
    await insertSession(tx, {
      hash: secret.hash,
      member_id: member.id,
      created_at: new Date(now),
      expires_at,
    });
    return {
      token: secret.plaintext,
      expires_at: expires_at.toISOString(),
      member_id: member.id,
      organization_id: organizationId,
      role: roles.shown(member.role),
      labels: roles.labelsOf(member.role),
    };
  };
  return database.transaction("mint_session", work, { lane: organizationId });
}

const SWEEP_INTERVAL_MS = 10 * 60 * 1000;
const SWEEP_RETRY_MS = 60 * 1000;
const SWEEP_ROWS = 1_000;

/** Deletes expired sessions, when it starts and every ten minutes, in batches that lock little. */
export function sessionSweeper({ database, clock }: Dependencies, log: Logger): Loop {
  return new Loop({
    async task(stopping) {
      let deleted = SWEEP_ROWS;
      while (deleted === SWEEP_ROWS && !stopping()) {
        deleted = await database.run("delete_expired_sessions", (orm) =>
          deleteExpiredSessions(orm, new Date(clock.now()), SWEEP_ROWS),
        );
      }
    },
    pause_ms: SWEEP_INTERVAL_MS,
    retry_ms: SWEEP_RETRY_MS,
    onFailure: (err) => log.warn({ err }, "expired sessions not deleted"),
    clock,
  });
}
