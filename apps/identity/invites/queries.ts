import type { PageRequest } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, eq, getTableColumns, inArray } from "drizzle-orm";
import { behind, byId } from "../list-queries.ts";
import { invites } from "../tables.ts";
import type { InviteRow } from "./invite.ts";

/** All but the token's hash, which no answer needs. */
const { token_hash: _, ...inviteColumns } = getTableColumns(invites);

export async function insertInvite(tx: Orm, row: InviteRow & { token_hash: string }): Promise<void> {
  await tx.insert(invites).values(row);
}

export function listInvites(
  orm: Orm,
  organizationId: string,
  { limit, starting_after }: PageRequest,
): Promise<InviteRow[]> {
  return orm
    .select(inviteColumns)
    .from(invites)
    .where(and(eq(invites.organization_id, organizationId), behind(invites.id, starting_after)))
    .orderBy(byId(invites.id))
    .limit(limit + 1);
}

/** The invite of a token, by all that it may be stored under, in whatever state it is. */
export async function findInviteByToken(orm: Orm, hashes: string[]): Promise<InviteRow | null> {
  const [row] = await orm.select(inviteColumns).from(invites).where(inArray(invites.token_hash, hashes));
  return row ?? null;
}

/** The invite, locked: whoever counts a use or ends it holds it, so that no use is counted twice or too many. */
export async function lockInvite(tx: Orm, organizationId: string, id: string): Promise<InviteRow | null> {
  const [row] = await tx
    .select(inviteColumns)
    .from(invites)
    .where(and(eq(invites.id, id), eq(invites.organization_id, organizationId)))
    .for("no key update");
  return row ?? null;
}

/** Writes a use or an end. The token goes when the invite is no longer active. */
export async function updateInvite(
  tx: Orm,
  id: string,
  change: { status: InviteRow["status"]; use_count: number },
): Promise<void> {
  const ended = change.status !== "active";
  await tx
    .update(invites)
    .set({ ...change, ...(ended && { token: null }) })
    .where(eq(invites.id, id));
}

/** Writes down that the time of these invites is over, unless someone else is just changing them. */
export async function expireInvites(tx: Orm, ids: readonly string[]): Promise<void> {
  const free = tx
    .select({ id: invites.id })
    .from(invites)
    .where(and(inArray(invites.id, [...ids]), eq(invites.status, "active")))
    .for("no key update", { skipLocked: true });
  await tx.update(invites).set({ status: "expired", token: null }).where(inArray(invites.id, free));
}
