import { notFound, validationError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Change, changesBetween } from "../changes.ts";
import type { Directory } from "../directory.ts";
import { lockOrganization } from "../organizations/queries.ts";
import type { LivingMemberRow } from "./member.ts";
import {
  findLivingMember,
  lockMember,
  type MemberAddress,
  memberAtAddress,
  updateMember,
} from "./queries.ts";
import { refuseLossOfLastHolder } from "./rules.ts";

/** What a PATCH asks for; absent fields stay as they are. */
export interface MemberChange {
  status?: "active" | "suspended";
  role?: string;
  display_name?: string | null;
}

/** Changes the member at an address. Answers what really changed. */
export async function changeMember(
  { database, roles, now }: Directory,
  address: MemberAddress,
  change: MemberChange,
): Promise<{ member: LivingMemberRow; details: Record<string, Change> }> {
  const { id, organizationId } = await memberAtAddress(database, address);
  const work = async (tx: Orm) => {
    if (change.role !== undefined) await lockOrganization(tx, organizationId, "update");
    await lockMember(tx, id, "update");
    const before = await findLivingMember(tx, id);
    if (before === null) throw notFound("member", id);
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
  };
  return database.transaction("change_member", work, { lane: organizationId });
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
