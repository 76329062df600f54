import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { inArray, lte } from "drizzle-orm";
import { sessions } from "../tables.ts";

/** Deletes at most `limit` expired sessions and returns how many were deleted. */
export async function deleteExpiredSessions(orm: Orm, now: Date, limit: number): Promise<number> {
  const expired = orm
    .select({ hash: sessions.hash })
    .from(sessions)
    .where(lte(sessions.expires_at, now))
    .limit(limit)
    .for("update", { skipLocked: true });
  const deleted = await orm
    .delete(sessions)
    .where(inArray(sessions.hash, expired))
    .returning({ hash: sessions.hash });
  return deleted.length;
}
