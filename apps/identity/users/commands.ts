import type { IdpSubject } from "@ostiary/lib/contracts/admission";
import { ApiError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { deleteKeysOfUser } from "../api-keys/queries.ts";
import { type Change, changesBetween } from "../changes.ts";
import type { Dependencies } from "../dependencies.ts";
import { memberEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/queries.ts";
import { endMemberships, forgetPerson, lockMembershipsOf } from "../members/queries.ts";
import { lockOrganizationsOf, organizationsThatNeed } from "../organizations/queries.ts";
import {
  deleteUser,
  findUserBySubject,
  insertUserOfSubject,
  lockExistingUser,
  lockUser,
  updateUser,
} from "./queries.ts";
import type { UserRow } from "./user.ts";

/** Each round lost means that someone else created or deleted this very person meanwhile. */
const ROUNDS_MAX = 10;

/**
 * The person of `subject`, created when nobody had it (contract 5), and kept from being deleted until the
 * transaction ends. Two at once create one person: the database lets one claim the link, the other reads it.
 */
export async function personOfSubject(
  tx: Orm,
  { newId, clock }: Pick<Dependencies, "newId" | "clock">,
  subject: IdpSubject,
): Promise<UserRow> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = await findUserBySubject(tx, subject);
    const now = new Date(clock.now());
    const person =
      found === null
        ? await insertUserOfSubject(tx, subject, {
            id: newId(),
            display_name: null,
            status: "active",
            created_at: now,
            updated_at: now,
          })
        : await lockUser(tx, found.id, "share");
    if (person !== null) return person;
  }
  throw new Error("The person of a subject was created and deleted over and over.");
}

/** Changes a person's name or status, and answers what really changed. */
export function changeUser(
  { database, clock }: Dependencies,
  id: string,
  change: Partial<Pick<UserRow, "display_name" | "status">>,
): Promise<{ user: UserRow; details: Record<string, Change> }> {
  const work = async (tx: Orm) => {
    const before = await lockExistingUser(tx, id, "update");
    const { display_name, status } = before;
    const details = changesBetween({ display_name, status }, change);
    if (Object.keys(details).length === 0) return { user: before, details };
    const written = { display_name, status, ...change, updated_at: new Date(clock.now()) };
    await updateUser(tx, id, written);
    return { user: { ...before, ...written }, details };
  };
  return database.transaction("change_user", work, { lane: id });
}

/** One for all: a deletion may wait at the organizations of many tenants. */
const DELETION_LANE = "account deletions";
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
export async function deleteAccount({ database, roles, clock }: Dependencies, userId: string): Promise<void> {
  const work = async (tx: Orm) => {
    await lockExistingUser(tx, userId, "delete");
    await lockOrganizationsOf(tx, userId);
    const needy = await organizationsThatNeed(tx, userId, roles.creator, NAMED_MAX);
    if (needy.length > 0) {
      throw new ApiError("ORGANIZATION_HANDOFF_REQUIRED", { details: { organizations: needy } });
    }
    const ended = await lockMembershipsOf(tx, userId);
    const now = new Date(clock.now());
    await endMemberships(tx, ended, now);
    await forgetPerson(tx, userId);
    await deleteKeysOfUser(tx, userId);
    await deleteUser(tx, userId);
    const events = ended.map((member) => memberEvent("member.removed", member, roles));
    await appendEvents(tx, events, now);
  };
  await database.transaction("delete_user", work, { lane: DELETION_LANE });
}
