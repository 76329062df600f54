import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Change, changesBetween } from "../changes.ts";
import type { Dependencies } from "../dependencies.ts";
import { memberEvent, organizationEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/queries.ts";
import { insertMember, type NewMember } from "../members/queries.ts";
import { lockExistingUser } from "../users/queries.ts";
import type { OrganizationRow } from "./organization.ts";
import {
  deleteOrganizationRows,
  insertOrganization,
  lockOrganization,
  updateOrganizationName,
} from "./queries.ts";

/** An organization and its first member, who holds `creator_role`, in one step. The person is locked first. */
export async function createOrganization(
  { database, roles, newId, clock }: Dependencies,
  userId: string,
  name: string,
): Promise<{ organization: OrganizationRow; member_id: string }> {
  const now = new Date(clock.now());
  const organization: OrganizationRow = { id: newId(), name, created_at: now, updated_at: now };
  const founder: NewMember = {
    id: newId(),
    organization_id: organization.id,
    principal: "user",
    user_id: userId,
    service_account_id: null,
    role: roles.creator,
    created_at: now,
  };
  const work = async (tx: Orm) => {
    await lockExistingUser(tx, userId, "share");
    await insertOrganization(tx, organization);
    await insertMember(tx, founder);
    const events = [
      organizationEvent("organization.created", organization),
      memberEvent("member.created", founder, roles),
    ];
    await appendEvents(tx, events, now);
  };
  await database.transaction("create_organization", work, { lane: userId });
  return { organization, member_id: founder.id };
}

export function renameOrganization(
  { database, clock }: Dependencies,
  id: string,
  name: string,
): Promise<{ organization: OrganizationRow; details: Record<string, Change> }> {
  const work = async (tx: Orm) => {
    const before = await lockOrganization(tx, id, "update");
    const details = changesBetween({ name: before.name }, { name });
    if (details.name === undefined) return { organization: before, details };
    const updated_at = new Date(clock.now());
    await updateOrganizationName(tx, id, name, updated_at);
    return { organization: { ...before, name, updated_at }, details };
  };
  return database.transaction("rename_organization", work, { lane: id });
}

/** Deletes an organization with all that is in it. */
export function deleteOrganization({ database, clock }: Dependencies, id: string): Promise<void> {
  const work = async (tx: Orm) => {
    const organization = await lockOrganization(tx, id, "delete");
    await deleteOrganizationRows(tx, id);
    await appendEvents(tx, [organizationEvent("organization.deleted", organization)], new Date(clock.now()));
  };
  return database.transaction("delete_organization", work, { lane: id });
}
