import { type ApiError, validationError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Roles } from "../roles/configured-roles.ts";
import type { CurrentMemberRow } from "./member.ts";
import { hasOtherMember } from "./member-sql.ts";

/**
 * Refuses to remove an organization's last member (ID-36) or, if roles are configured, the last member with
 * creator_role (ID-37). A suspended member still counts as a member, so the others can be removed. The caller has
 * locked the organization's row for update, so the result stays valid until the commit.
 */
export async function refuseRemovalOfLast(tx: Orm, member: CurrentMemberRow, roles: Roles): Promise<void> {
  if (!(await hasOtherMember(tx, member))) {
    throw lastOf("member_id", "An organization's last member cannot be removed; delete the organization.");
  }
  await refuseLossOfLastHolder(tx, member, roles, "member_id");
}

/** Throws 422 if `member` is the last holder of creator_role. `path` is the field that the error names. */
export async function refuseLossOfLastHolder(
  tx: Orm,
  member: CurrentMemberRow,
  { creator }: Roles,
  path: "member_id" | "role",
): Promise<void> {
  if (creator === null || member.role !== creator) return;
  if (await hasOtherMember(tx, member, creator)) return;
  throw lastOf(
    path,
    `The last member with the role ${creator} must keep it; give the role to another member first.`,
  );
}

function lastOf(path: string, message: string): ApiError {
  return validationError([{ path, message }]);
}
