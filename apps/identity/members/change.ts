import { notFound, validationError } from "@ostiary/lib/errors";
import { type Change, changesBetween } from "../changes.ts";
import type { Directory } from "../directory.ts";
import { lockOrganization } from "../organizations/queries.ts";
import type { LivingMemberRow } from "./member.ts";
import { findLivingMember, lockMember, updateMember } from "./queries.ts";
import { refuseLossOfLastHolder } from "./rules.ts";

/** What a PATCH asks for; absent fields stay as they are. */
export interface MemberChange {
  status?: "active" | "suspended";
  role?: string;
  display_name?: string | null;
}

/**
 * Changes a member that belongs to `organizationId`, where one is given: 404 for any other, unknown or
 * removed one. Answers what really changed.
 */
export function changeMember(
  { database, roles, now }: Directory,
  address: { memberId: string; organizationId?: string },
  change: MemberChange,
): Promise<{ member: LivingMemberRow; details: Record<string, Change> }> {
  return database.transaction("change_member", async (tx) => {
    const found = await findLivingMember(tx, address.memberId);
    if (found === null || !isAt(found, address)) throw notFound("member", address.memberId);
    if (change.role !== undefined) await lockOrganization(tx, found.organizationId, "update");
    await lockMember(tx, found.id, "update");
    const before = await findLivingMember(tx, found.id);
    if (before === null) throw notFound("member", address.memberId);
    refuseNameOfServiceAccount(before, change);
    const details = changesBetween(
      { status: before.status, role: before.role, display_name: before.displayName },
      change,
    );
    if (Object.keys(details).length === 0) return { member: before, details };
    if (details.role !== undefined) await refuseLossOfLastHolder(tx, before, roles, "role");
    const written = {
      status: change.status ?? before.status,
      role: change.role ?? before.role,
      displayName: change.display_name === undefined ? before.displayName : change.display_name,
      updatedAt: now(),
    };
    await updateMember(tx, before.id, written);
    return { member: { ...before, ...written }, details };
  });
}

/** Whether a member is found at the address that a request names. */
export function isAt(member: { organizationId: string }, address: { organizationId?: string }): boolean {
  return address.organizationId === undefined || address.organizationId === member.organizationId;
}

function refuseNameOfServiceAccount(member: LivingMemberRow, { display_name }: MemberChange): void {
  if (display_name === undefined || member.principal !== "service_account") return;
  throw validationError([
    {
      path: "display_name",
      message: "display_name can not be set for a service account; change the service account's name.",
    },
  ]);
}
