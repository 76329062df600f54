import { ApiError, notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import type { CurrentMemberRow } from "../members/member.ts";
import { joinOrganization } from "../members/member-commands.ts";
import { findMembership } from "../members/member-sql.ts";
import { lockOrganization, requireOrganization } from "../organizations/organization-sql.ts";
import { invites } from "../tables.ts";
import { lockExistingUser, requireUser } from "../users/user-sql.ts";
import {
  type CreateInvite,
  EXPIRES_SECONDS_DEFAULT,
  type InvitePreview,
  type InviteRow,
  isOverdue,
} from "./invite.ts";
import { expireInvites, findInviteByToken, lockInvite, updateInvite } from "./invite-sql.ts";

export async function createInvite(
  { database, roles, newId, clock, secrets }: Dependencies,
  organization_id: string,
  { role, email, expires_in_seconds = EXPIRES_SECONDS_DEFAULT, max_uses = 1 }: CreateInvite,
): Promise<InviteRow> {
  const now = clock.now();
  const secret = secrets.inviteToken();
  const invite: InviteRow = {
    id: newId(),
    organization_id,
    email: email === undefined ? null : trimmed(email),
    role: role ?? roles.forMembers,
    token_prefix: secret.prefix,
    token: secret.plaintext,
    status: "active",
    max_uses,
    use_count: 0,
    expires_at: new Date(now + expires_in_seconds * 1000),
    created_at: new Date(now),
  };
  const work = async (tx: Orm) => {
    await lockOrganization(tx, organization_id, "share");
    await tx.insert(invites).values({ ...invite, token_hash: secret.hash });
  };
  await database.transaction("create_invite", work, { lane: organization_id });
  return invite;
}

/** Marks overdue invites as expired, in the database and in the returned rows. */
export async function expireOverdue(
  { database, clock }: Dependencies,
  rows: readonly InviteRow[],
): Promise<InviteRow[]> {
  const now = clock.now();
  const overdue = rows.filter((row) => isOverdue(row, now)).map(({ id }) => id);
  if (overdue.length > 0) await database.run("expire_invites", (orm) => expireInvites(orm, overdue));
  return rows.map((row) =>
    overdue.includes(row.id) ? { ...row, status: "expired", token: null, email: null } : row,
  );
}

/**
 * Revokes an active invite; an ended one stays unchanged. Throws a 404 when the organization has no such
 * invite.
 */
export function revokeInvite(
  { database, clock }: Dependencies,
  organization_id: string,
  id: string,
): Promise<void> {
  const work = async (tx: Orm) => {
    const invite = await lockInvite(tx, organization_id, id);
    if (invite === null) throw notFound("invite", id);
    if (invite.status !== "active") return;
    const status = isOverdue(invite, clock.now()) ? "expired" : "revoked";
    await updateInvite(tx, id, { status, use_count: invite.use_count });
  };
  return database.transaction("revoke_invite", work, { lane: organization_id });
}

/**
 * Returns what an invite leads to, in any state, for a person who has its token. Changes nothing.
 *
 * @throws ApiError NOT_FOUND for an unknown person or token
 */
export async function previewInvite(
  { database, secrets, roles, clock }: Dependencies,
  user_id: string,
  token: string,
): Promise<InvitePreview> {
  const hashes = secrets.hashesOf(token);
  return database.run("preview_invite", async (orm) => {
    await requireUser(orm, user_id);
    const invite = await findInviteByToken(orm, hashes);
    if (invite === null) throw notFound();
    const { organization_id, role, status, expires_at } = invite;
    const { name } = await requireOrganization(orm, organization_id).catch(withoutOrganization);
    const member = await findMembership(orm, organization_id, user_id);
    return {
      organization: { id: organization_id, name },
      role: roles.shown(role),
      status: isOverdue(invite, clock.now()) ? "expired" : status,
      expires_at: expires_at.toISOString(),
      member_id: member?.id ?? null,
    };
  });
}

type Redemption =
  | { ended: Exclude<InviteRow["status"], "active"> }
  | { member: CurrentMemberRow; isNew: boolean };

/**
 * Redeems an invite for a person (ID-44): counts a use, and adds the person to the organization unless the person is
 * already a member.
 *
 * @throws ApiError NOT_FOUND for an unknown person or token, CONFLICT for an ended invite
 */
export async function redeemInvite(
  deps: Dependencies,
  user_id: string,
  token: string,
): Promise<{ member: CurrentMemberRow; isNew: boolean }> {
  const { database, secrets } = deps;
  const hashes = secrets.hashesOf(token);
  const found = await database.run("select_invite", (orm) => findInviteByToken(orm, hashes));
  const work = (tx: Orm) => redeem(tx, deps, user_id, found);
  const lane = found?.organization_id ?? user_id;
  const redemption = await database.transaction("redeem_invite", work, { lane });
  if ("member" in redemption) return redemption;
  throw new ApiError("CONFLICT", {
    message: `This invite is ${redemption.ended}: ask for a new invite.`,
    details: { field: "status", value: redemption.ended },
  });
}

/**
 * Redeems an invite with the person, the organization and the invite locked. For an overdue invite, returns
 * the result instead of throwing, so that the expiry is committed.
 */
async function redeem(
  tx: Orm,
  deps: Dependencies,
  user_id: string,
  found: InviteRow | null,
): Promise<Redemption> {
  const person = await lockExistingUser(tx, user_id, "share");
  if (found === null) throw notFound();
  const { id, organization_id } = found;
  await lockOrganization(tx, organization_id, "update").catch(withoutOrganization);
  const invite = await lockInvite(tx, organization_id, id);
  if (invite === null) throw notFound();
  if (isOverdue(invite, deps.clock.now())) {
    await updateInvite(tx, id, { status: "expired", use_count: invite.use_count });
    return { ended: "expired" };
  }
  if (invite.status !== "active") return { ended: invite.status };
  const use_count = invite.use_count + 1;
  await updateInvite(tx, id, { status: use_count === invite.max_uses ? "redeemed" : "active", use_count });
  const member = await findMembership(tx, organization_id, user_id);
  if (member !== null) return { member, isNew: false };
  const role = invite.role ?? deps.roles.forMembers;
  return { member: await joinOrganization(tx, deps, organization_id, person, role), isNew: true };
}

/**
 * Hides the id of an organization that was deleted during the call, because the caller might not be a member.
 */
function withoutOrganization(error: unknown): never {
  throw error instanceof ApiError && error.code === "NOT_FOUND" ? notFound() : error;
}
