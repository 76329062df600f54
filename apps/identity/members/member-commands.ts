import type { IdpSubject } from "@ostiary/lib/contracts/admission";
import { ApiError, validationError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Changed, changesBetween } from "../changed-fields.ts";
import type { Dependencies } from "../dependencies.ts";
import { memberEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/lifecycle-sql.ts";
import { lockOrganization } from "../organizations/organization-sql.ts";
import { updateRow } from "../rows-sql.ts";
import { members } from "../tables.ts";
import type { UserRow } from "../users/user.ts";
import { personOfSubject } from "../users/user-commands.ts";
import { findUserBySubject } from "../users/user-sql.ts";
import { refuseLossOfLastHolder, refuseRemovalOfLast } from "./last-member.ts";
import { type CurrentMemberRow, type MemberChange, memberAlready } from "./member.ts";
import {
  endMemberships,
  findMembership,
  insertMember,
  lockMember,
  type MemberAddress,
  type NewMember,
  requireCurrentMember,
} from "./member-sql.ts";

/**
 * Adds the person of an IdP subject to an organization, and creates the person if the subject is new.
 *
 * Locks the person, then the organization. For a new person, locks the organization first. Validations of the subject
 * wait once the person's IdP link is inserted, so the transaction must not wait for a lock after the insert.
 */
export function addMember(
  deps: Dependencies,
  organization_id: string,
  idp: IdpSubject,
  role: string | null,
): Promise<CurrentMemberRow> {
  const work = async (tx: Orm) => {
    const isNew = (await findUserBySubject(tx, idp)) === null;
    if (isNew) await lockOrganization(tx, organization_id, "update");
    const person = await personOfSubject(tx, deps, idp);
    if (!isNew) await lockOrganization(tx, organization_id, "update");
    if ((await findMembership(tx, organization_id, person.id)) !== null) {
      throw new ApiError(memberAlready.code, memberAlready);
    }
    return joinOrganization(tx, deps, organization_id, person, role);
  };
  return deps.database.transaction("add_member", work, { lane: organization_id });
}

/**
 * Adds a person who is not a member to an organization. Must be the last step of a transaction that holds the
 * person locked for share and the organization for update.
 */
export async function joinOrganization(
  tx: Orm,
  { newId, clock, roles }: Dependencies,
  organization_id: string,
  person: UserRow,
  role: string | null,
): Promise<CurrentMemberRow> {
  const now = new Date(clock.now());
  const member = {
    id: newId(),
    organization_id,
    principal: "user",
    user_id: person.id,
    service_account_id: null,
    role,
    created_at: now,
  } as const satisfies NewMember;
  await insertMember(tx, member);
  await appendEvents(tx, [memberEvent("member.created", member, roles)], now);
  return {
    ...member,
    display_name: null,
    person_name: person.display_name,
    service_account_name: null,
    status: "active",
    updated_at: now,
  };
}

/** Changes a member and returns the changed fields. Locks the organization if the role changes, then the member. */
export async function changeMember(
  { database, roles, clock }: Dependencies,
  address: MemberAddress,
  change: MemberChange,
): Promise<Changed<CurrentMemberRow>> {
  const { organization_id } = await database.run("select_member", (orm) =>
    requireCurrentMember(orm, address),
  );
  const work = async (tx: Orm) => {
    if (change.role !== undefined) await lockOrganization(tx, organization_id, "update");
    await lockMember(tx, address.member_id, "update");
    const before = await requireCurrentMember(tx, address);
    refuseNameOfServiceAccount(before, change);
    const { status, role, display_name } = before;
    const details = changesBetween({ status, role, display_name }, change);
    if (Object.keys(details).length === 0) return { row: before, details };
    if (details.role !== undefined) await refuseLossOfLastHolder(tx, before, roles, "role");
    const written = { status, role, display_name, ...change, updated_at: new Date(clock.now()) };
    await updateRow(tx, members, before.id, written);
    return { row: { ...before, ...written }, details };
  };
  return database.transaction("change_member", work, { lane: organization_id });
}

function refuseNameOfServiceAccount(member: CurrentMemberRow, { display_name }: MemberChange): void {
  if (display_name === undefined || member.principal !== "service_account") return;
  throw validationError([
    {
      path: "display_name",
      message: "display_name cannot be set for a service account; change the service account's name.",
    },
  ]);
}

/** Removes a member. The path may name the member with or without its organization. */
export async function removeMemberAt(deps: Dependencies, address: MemberAddress): Promise<void> {
  const { database } = deps;
  const member = await database.run("select_member", (orm) => requireCurrentMember(orm, address));
  const work = (tx: Orm) => removeMember(tx, deps, member.organization_id, member.id);
  await database.transaction("remove_member", work, { lane: member.organization_id });
}

/**
 * Removes a member for good (ID-35), revokes its keys and deletes its sessions. Locks the organization, then
 * the member. Must be the last step of a transaction.
 */
export async function removeMember(
  tx: Orm,
  { roles, clock }: Dependencies,
  organization_id: string,
  member_id: string,
): Promise<void> {
  await lockOrganization(tx, organization_id, "update");
  await lockMember(tx, member_id, "update");
  const member = await requireCurrentMember(tx, { member_id });
  await refuseRemovalOfLast(tx, member, roles);
  const now = new Date(clock.now());
  await endMemberships(tx, [member], now);
  await appendEvents(tx, [memberEvent("member.removed", member, roles)], now);
}
