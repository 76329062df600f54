import type { PageRequest } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Static } from "@sinclair/typebox";
import type { Directory } from "../directory.ts";
import { trimmed } from "../fields.ts";
import { lockOrganization, requireOrganization } from "../organizations/queries.ts";
import { type createInviteBody, EXPIRES_SECONDS_DEFAULT, type InviteRow, isOverdue } from "./invite.ts";
import { expireInvites, insertInvite, listInvites, lockInvite, updateInvite } from "./queries.ts";

type CreateInvite = Static<ReturnType<typeof createInviteBody>>;

export async function createInvite(
  { database, roles, newId, now, secrets }: Directory,
  organizationId: string,
  body: CreateInvite,
): Promise<InviteRow> {
  const createdAt = now();
  const { expires_in_seconds = EXPIRES_SECONDS_DEFAULT, max_uses = 1, email } = body;
  const secret = secrets.inviteToken();
  const invite = {
    id: newId(),
    organizationId,
    email: email === undefined ? null : trimmed(email),
    role: body.role ?? roles.forMembers,
    tokenPrefix: secret.prefix,
    tokenHash: secret.hash,
    token: secret.plaintext,
    status: "active",
    maxUses: max_uses,
    useCount: 0,
    expiresAt: new Date(createdAt.getTime() + expires_in_seconds * 1000),
    createdAt,
  } as const;
  const work = async (tx: Orm) => {
    await lockOrganization(tx, organizationId, "share");
    await insertInvite(tx, invite);
  };
  await database.transaction("create_invite", work, { lane: organizationId });
  return invite;
}

/** A page of invites and one more; those whose time is over are stored as expired in passing. */
export async function pageOfInvites(
  { database, now }: Directory,
  organizationId: string,
  request: PageRequest,
): Promise<InviteRow[]> {
  const rows = await database.run("list_invites", async (orm) => {
    await requireOrganization(orm, organizationId);
    return listInvites(orm, organizationId, request);
  });
  const time = now();
  const overdue = rows.filter((row) => isOverdue(row, time)).map(({ id }) => id);
  if (overdue.length === 0) return rows;
  await database.run("expire_invites", (orm) => expireInvites(orm, overdue));
  return rows.map((row) => (overdue.includes(row.id) ? { ...row, status: "expired", token: null } : row));
}

/** Revokes an invite; one that is over stays as it is. False when the organization has no such invite. */
export function revokeInvite(
  { database, now }: Directory,
  organizationId: string,
  id: string,
): Promise<boolean> {
  const work = async (tx: Orm) => {
    const invite = await lockInvite(tx, organizationId, id);
    if (invite === null) return false;
    if (invite.status === "active") {
      const status = isOverdue(invite, now()) ? "expired" : "revoked";
      await updateInvite(tx, id, { status, useCount: invite.useCount });
    }
    return true;
  };
  return database.transaction("revoke_invite", work, { lane: organizationId });
}
