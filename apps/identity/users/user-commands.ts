import type { IdpSubject } from "@ostiary/lib/contracts/admission";
import { ApiError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { deleteKeysOfUser } from "../api-keys/api-key-sql.ts";
import { type Changed, changesBetween } from "../changed-fields.ts";
import type { Dependencies } from "../dependencies.ts";
import { memberEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/lifecycle-sql.ts";
import { endMemberships, forgetPerson, lockMembershipsOf } from "../members/member-sql.ts";
import {
  forgetCreator,
  lockOrganizationsOf,
  organizationsThatNeed,
} from "../organizations/organization-sql.ts";
import { updateRow } from "../rows-sql.ts";
import { users } from "../tables.ts";
import type { IdpLinkRow, UserRow } from "./user.ts";
import {
  countLinks,
  deleteUser,
  findUserBySubject,
  insertLink,
  insertUserOfSubject,
  lockExistingUser,
  lockUser,
} from "./user-sql.ts";

/**
 * The maximum number of attempts to find or create a person. An attempt fails when another transaction creates or
 * deletes the same person.
 */
const ROUNDS_MAX = 10;

/**
 * Returns the person of `subject`, or creates one (ID-85). Locks the person against deletion until the transaction
 * ends. When two calls run at once, one inserts the IdP link and the other reads it.
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
  throw new Error("Other requests created or deleted this person during each attempt: try again.");
}

/** The maximum number of subjects that stand for one person. */
const SUBJECTS_MAX = 10;

/**
 * Lets one more subject stand for a person (ID-120). The key of the table admits one person for each subject; the lock
 * of the person keeps the number of subjects.
 *
 * @throws ApiError NOT_FOUND for an unknown person, CONFLICT for a subject that stands for a person already, this one
 * included, and for one subject too many
 */
export function linkSubject(
  { database, clock }: Dependencies,
  user_id: string,
  subject: IdpSubject,
): Promise<IdpLinkRow> {
  const work = async (tx: Orm) => {
    await lockExistingUser(tx, user_id, "update");
    const link = { ...subject, user_id, created_at: new Date(clock.now()) };
    for (let round = 0; round < ROUNDS_MAX; round++) {
      if (await insertLink(tx, link)) {
        if ((await countLinks(tx, user_id)) > SUBJECTS_MAX) throw tooManySubjects();
        return link;
      }
      const holder = await findUserBySubject(tx, subject);
      if (holder !== null) throw takenBy(holder.id);
    }
    throw new Error("Other requests linked or deleted this subject during each attempt: try again.");
  };
  return database.transaction("link_subject", work, { lane: user_id });
}

function takenBy(holder_id: string): ApiError {
  return new ApiError("CONFLICT", {
    message: "This subject already stands for a person.",
    details: { field: "subject", value: holder_id },
  });
}

function tooManySubjects(): ApiError {
  return new ApiError("CONFLICT", {
    message: `The person has ${SUBJECTS_MAX} subjects, the maximum.`,
    details: { field: "idps", value: String(SUBJECTS_MAX) },
  });
}

/** Changes a person's name or status and returns the changed fields. */
export function changeUser(
  { database, clock }: Dependencies,
  id: string,
  change: Partial<Pick<UserRow, "display_name" | "status">>,
): Promise<Changed<UserRow>> {
  const work = async (tx: Orm) => {
    const before = await lockExistingUser(tx, id, "update");
    const { display_name, status } = before;
    const details = changesBetween({ display_name, status }, change);
    if (Object.keys(details).length === 0) return { row: before, details };
    const written = { display_name, status, ...change, updated_at: new Date(clock.now()) };
    await updateRow(tx, users, id, written);
    return { row: { ...before, ...written }, details };
  };
  return database.transaction("change_user", work, { lane: id });
}

/** The lane of all deletions, because a deletion may wait for the organizations of many tenants. */
const DELETION_LANE = "account deletions";
/** The maximum number of organizations that a refusal names. */
const NAMED_MAX = 100;

/**
 * Deletes a person's account in one transaction (ID-20): ends memberships, and deletes keys and IdP links.
 * Former memberships and created organizations no longer refer to the person. Locks the person, so that no
 * membership is added, then the organizations in the order of their ids.
 *
 * @throws ApiError ORGANIZATION_HANDOFF_REQUIRED when an organization would lose its last member or holder of
 * creator_role
 */
export async function deleteAccount(
  { database, roles, clock }: Dependencies,
  user_id: string,
): Promise<void> {
  const work = async (tx: Orm) => {
    await lockExistingUser(tx, user_id, "delete");
    await lockOrganizationsOf(tx, user_id);
    const needy = await organizationsThatNeed(tx, user_id, roles.creator, NAMED_MAX);
    if (needy.length > 0) {
      throw new ApiError("ORGANIZATION_HANDOFF_REQUIRED", { details: { organizations: needy } });
    }
    const ended = await lockMembershipsOf(tx, user_id);
    const now = new Date(clock.now());
    await endMemberships(tx, ended, now);
    await forgetPerson(tx, user_id);
    await forgetCreator(tx, user_id);
    await deleteKeysOfUser(tx, user_id);
    await deleteUser(tx, user_id);
    const events = ended.map((member) => memberEvent("member.removed", member, roles));
    await appendEvents(tx, events, now);
  };
  await database.transaction("delete_user", work, { lane: DELETION_LANE });
}
