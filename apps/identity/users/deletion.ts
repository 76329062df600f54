import { ApiError, notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { deleteKeysOfUser } from "../api-keys/queries.ts";
import type { Directory } from "../directory.ts";
import { memberEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/queries.ts";
import { endMemberships, forgetPerson, lockMembershipsOf } from "../members/queries.ts";
import { lockOrganizationsOf, organizationsThatNeed } from "../organizations/queries.ts";
import { deleteUser, lockUser } from "./queries.ts";

/** One for all: a deletion may wait at the organizations of many tenants. */
const LANE = "account deletions";
/** Organizations that a refusal names at most. */
const NAMED_MAX = 100;

/**
 * Deletes a person's account in one step (Identity specification, Users): memberships end, keys and IdP links
 * go, and former memberships forget who it was.
 *
 * The person is locked first, so that no membership is added meanwhile, then the organizations in the order
 * of their ids.
 *
 * @throws ApiError ORGANIZATION_HANDOFF_REQUIRED while an organization would be left without a member or
 * without a holder of creator_role.
 */
export async function deleteAccount({ database, roles, now }: Directory, userId: string): Promise<void> {
  const work = async (tx: Orm) => {
    if ((await lockUser(tx, userId, "delete")) === null) throw notFound("user", userId);
    await lockOrganizationsOf(tx, userId);
    const needy = await organizationsThatNeed(tx, userId, roles.creator, NAMED_MAX);
    if (needy.length > 0) {
      throw new ApiError("ORGANIZATION_HANDOFF_REQUIRED", { details: { organizations: needy } });
    }
    const ended = await lockMembershipsOf(tx, userId);
    const deletedAt = now();
    await endMemberships(tx, ended, deletedAt);
    await forgetPerson(tx, userId);
    await deleteKeysOfUser(tx, userId);
    await deleteUser(tx, userId);
    const events = ended.map((member) => memberEvent("member.removed", member, roles));
    await appendEvents(tx, events, deletedAt);
  };
  await database.transaction("delete_user", work, { lane: LANE });
}
