import { notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Directory } from "../directory.ts";
import { memberEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/queries.ts";
import { lockOrganization } from "../organizations/queries.ts";
import {
  endMemberships,
  findLivingMember,
  lockMember,
  type MemberAddress,
  memberAtAddress,
} from "./queries.ts";
import { refuseRemovalOfLast } from "./rules.ts";

/** Removes the member at an address. */
export async function removeMemberAt(directory: Directory, address: MemberAddress): Promise<void> {
  const { database } = directory;
  const member = await memberAtAddress(database, address);
  await database.transaction("remove_member", (tx) => removeMember(tx, directory, member), {
    lane: member.organizationId,
  });
}

/**
 * Removes a member for good (Identity specification, Member status), as the last step of a transaction:
 * its keys are revoked and its sessions deleted with it.
 */
export async function removeMember(
  tx: Orm,
  { roles, now }: Pick<Directory, "roles" | "now">,
  target: { id: string; organizationId: string },
): Promise<void> {
  await lockOrganization(tx, target.organizationId, "update");
  await lockMember(tx, target.id, "update");
  const member = await findLivingMember(tx, target.id);
  if (member === null) throw notFound("member", target.id);
  await refuseRemovalOfLast(tx, member, roles);
  const removedAt = now();
  await endMemberships(tx, [member], removedAt);
  await appendEvents(tx, [memberEvent("member.removed", member, roles)], removedAt);
}
