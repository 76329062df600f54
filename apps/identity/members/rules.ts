import { type ApiError, validationError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Roles } from "../roles/roles.ts";
import type { LivingMemberRow } from "./member.ts";
import { hasOtherMember } from "./queries.ts";

/**
 * What an organization never goes without (contract 5): a member, and with roles on a holder of creator_role.
 * Suspended ones count. The caller holds the organization locked for update, so the answer stays true.
 */
export async function refuseRemovalOfLast(tx: Orm, member: LivingMemberRow, roles: Roles): Promise<void> {
  if (!(await hasOtherMember(tx, member.organizationId, member.id))) {
    throw lastOf("member_id", "An organization's last member can not be removed; delete the organization.");
  }
  await refuseLossOfLastHolder(tx, member, roles, "member_id");
}

/** Refuses that `member` stops holding creator_role while nobody else does. `path` is the field to blame. */
export async function refuseLossOfLastHolder(
  tx: Orm,
  member: LivingMemberRow,
  roles: Roles,
  path: "member_id" | "role",
): Promise<void> {
  const { creator } = roles;
  if (creator === null || member.role !== creator) return;
  if (await hasOtherMember(tx, member.organizationId, member.id, creator)) return;
  throw lastOf(
    path,
    `The last member with the role ${creator} must keep it; give the role to another first.`,
  );
}

function lastOf(path: string, message: string): ApiError {
  return validationError([{ path, message }]);
}
