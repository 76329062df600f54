import { hashCredential } from "@ostiary/lib/domain/credentials";
import { ApiError, notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Directory } from "../directory.ts";
import { joinOrganization } from "../members/addition.ts";
import type { LivingMemberRow } from "../members/member.ts";
import { findMembership } from "../members/queries.ts";
import { lockOrganization } from "../organizations/queries.ts";
import { lockUser } from "../users/queries.ts";
import { type InviteRow, isOverdue } from "./invite.ts";
import { findInviteByToken, lockInvite, updateInvite } from "./queries.ts";

/** What came of a redemption. */
export type Redemption =
  | { ended: Exclude<InviteRow["status"], "active"> }
  | { member: LivingMemberRow; isNew: boolean };

/**
 * Redeems an invite for a person (Identity specification, Users): a use is counted, and the person becomes
 * a member unless it is one.
 *
 * @throws ApiError NOT_FOUND for an unknown person or token, CONFLICT for an invite that is over.
 */
export async function redeemInvite(
  directory: Directory,
  userId: string,
  token: string,
): Promise<{ member: LivingMemberRow; isNew: boolean }> {
  const { database } = directory;
  const tokenHash = hashCredential(token);
  const found = await database.run("select_invite", (orm) => findInviteByToken(orm, tokenHash));
  const redemption = await database.transaction(
    "redeem_invite",
    (tx) => redeem(tx, directory, userId, found),
    { lane: found?.organizationId ?? userId },
  );
  if ("member" in redemption) return redemption;
  throw new ApiError("CONFLICT", {
    message: `This invite is ${redemption.ended}.`,
    details: { field: "status", value: redemption.ended },
  });
}

/** An invite that is found to be overdue is committed as expired, so this answers instead of throwing. */
async function redeem(
  tx: Orm,
  directory: Directory,
  userId: string,
  found: InviteRow | null,
): Promise<Redemption> {
  const person = await lockUser(tx, userId, "share");
  if (person === null) throw notFound("user", userId);
  if (found === null) throw notFound();
  const { organizationId } = found;
  await lockOrganization(tx, organizationId, "update").catch(withoutOrganization);
  const invite = await lockInvite(tx, organizationId, found.id);
  if (invite === null) throw notFound();
  if (isOverdue(invite, directory.now())) {
    await updateInvite(tx, invite.id, { status: "expired", useCount: invite.useCount });
    return { ended: "expired" };
  }
  if (invite.status !== "active") return { ended: invite.status };
  const useCount = invite.useCount + 1;
  await updateInvite(tx, invite.id, {
    status: useCount === invite.maxUses ? "redeemed" : "active",
    useCount,
  });
  const member = await findMembership(tx, organizationId, userId);
  if (member !== null) return { member, isNew: false };
  const role = invite.role ?? directory.roles.forMembers;
  return { member: await joinOrganization(tx, directory, { organizationId, person, role }), isNew: true };
}

/** To someone who may not be a member, an organization that was deleted meanwhile is not named. */
function withoutOrganization(error: unknown): never {
  throw error instanceof ApiError && error.code === "NOT_FOUND" ? notFound() : error;
}
