import type { PageRequest } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, eq, getTableColumns, inArray, lte } from "drizzle-orm";
import { byId, idAfter } from "../rows-sql.ts";
import { invites } from "../tables.ts";
import type { InviteRow } from "./invite.ts";

/** The columns of an invite without the token's hash, which no response needs. */
const { token_hash: _, ...inviteColumns } = getTableColumns(invites);

/** The columns that an ended invite no longer has: the secret and the address of a person. */
const FORGOTTEN = { token: null, email: null };

export function listInvites(
  orm: Orm,
  organization_id: string,
  { limit, starting_after }: PageRequest,
): Promise<InviteRow[]> {
  return orm
    .select(inviteColumns)
    .from(invites)
    .where(and(eq(invites.organization_id, organization_id), idAfter(invites.id, starting_after)))
    .orderBy(byId(invites.id))
    .limit(limit + 1);
}

/**
 * Returns the invite of a token in any state. `hashes` are all hashes under which the token may be stored.
 */
export async function findInviteByToken(orm: Orm, hashes: string[]): Promise<InviteRow | null> {
  const [row] = await orm.select(inviteColumns).from(invites).where(inArray(invites.token_hash, hashes));
  return row ?? null;
}

/**
 * Locks an invite and returns it. The lock protects the count of uses and the status, so that no use is counted
 * twice or beyond the limit.
 */
export async function lockInvite(tx: Orm, organization_id: string, id: string): Promise<InviteRow | null> {
  const [row] = await tx
    .select(inviteColumns)
    .from(invites)
    .where(and(eq(invites.id, id), eq(invites.organization_id, organization_id)))
    .for("no key update");
  return row ?? null;
}

/** Stores the status and the count of uses of an invite. An ended invite loses its token and its address (ID-41). */
export async function updateInvite(
  tx: Orm,
  id: string,
  change: { status: InviteRow["status"]; use_count: number },
): Promise<void> {
  const ended = change.status !== "active";
  await tx
    .update(invites)
    .set({ ...change, ...(ended && FORGOTTEN) })
    .where(eq(invites.id, id));
}

/** Marks invites as expired, except those that another transaction holds locked. */
export async function expireInvites(tx: Orm, ids: readonly string[]): Promise<void> {
  const free = tx
    .select({ id: invites.id })
    .from(invites)
    .where(and(inArray(invites.id, [...ids]), eq(invites.status, "active")))
    .for("no key update", { skipLocked: true });
  await tx
    .update(invites)
    .set({ status: "expired", ...FORGOTTEN })
    .where(inArray(invites.id, free));
}

/** Marks at most `limit` overdue invites as expired, and returns their number. */
export async function expireOverdueInvites(orm: Orm, now: Date, limit: number): Promise<number> {
  const overdue = orm
    .select({ id: invites.id })
    .from(invites)
    .where(and(eq(invites.status, "active"), lte(invites.expires_at, now)))
    .limit(limit)
    .for("no key update", { skipLocked: true });
  const expired = await orm
    .update(invites)
    .set({ status: "expired", ...FORGOTTEN })
    .where(inArray(invites.id, overdue))
    .returning({ id: invites.id });
  return expired.length;
}
