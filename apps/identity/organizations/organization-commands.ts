import { ApiError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Changed, changesBetween } from "../changed-fields.ts";
import type { Dependencies } from "../dependencies.ts";
import { memberEvent, organizationEvent, planEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/lifecycle-sql.ts";
import { insertMember, type NewMember } from "../members/member-sql.ts";
import { updateRow } from "../rows-sql.ts";
import { organizations } from "../tables.ts";
import { lockExistingUser } from "../users/user-sql.ts";
import type { OrganizationRow } from "./organization.ts";
import { countCreatedBy, deleteOrganizationRows, lockOrganization } from "./organization-sql.ts";

interface NewOrganization {
  name: string;
  /** The person who becomes the first member. */
  user_id: string;
  /** The kind of creator. A person has a limit; staff may create any number of organizations for a person. */
  by: "person" | "staff";
}

/**
 * Creates an organization and its first member, who holds `creator_role`, in one transaction. Locks the person
 * first, so that concurrent creations by one person cannot exceed the limit.
 *
 * @throws ApiError NOT_FOUND for an unknown person, CONFLICT for a person at the limit
 */
export async function createOrganization(
  deps: Dependencies,
  { name, user_id, by }: NewOrganization,
): Promise<{ organization: OrganizationRow; member_id: string }> {
  const { database, roles, newId, clock, defaultPlan: plan } = deps;
  const now = new Date(clock.now());
  const organization: OrganizationRow = { id: newId(), name, plan, created_at: now, updated_at: now };
  const founder: NewMember = {
    id: newId(),
    organization_id: organization.id,
    principal: "user",
    user_id,
    service_account_id: null,
    role: roles.creator,
    created_at: now,
  };
  const work = async (tx: Orm) => {
    await lockExistingUser(tx, user_id, by === "person" ? "update" : "share");
    if (by === "person") await refuseTooMany(tx, user_id, deps.organizationsPerPersonMax);
    const created_by = by === "person" ? user_id : null;
    await tx.insert(organizations).values({ ...organization, created_by });
    await insertMember(tx, founder);
    const events = [
      organizationEvent("organization.created", organization),
      memberEvent("member.created", founder, roles),
    ];
    await appendEvents(tx, events, now);
  };
  await database.transaction("create_organization", work, { lane: user_id });
  return { organization, member_id: founder.id };
}

async function refuseTooMany(tx: Orm, user_id: string, organizationsMax: number): Promise<void> {
  if ((await countCreatedBy(tx, user_id)) < organizationsMax) return;
  throw new ApiError("CONFLICT", {
    message: `The person has created ${organizationsMax} organizations, the maximum: delete one first.`,
    details: { field: "organizations", value: String(organizationsMax) },
  });
}

/** Changes the name or plan of an organization (ID-112). If no field changes, writes nothing and adds no event. */
export function changeOrganization(
  { database, clock }: Dependencies,
  operation: "rename_organization" | "change_plan",
  id: string,
  change: Partial<Pick<OrganizationRow, "name" | "plan">>,
): Promise<Changed<OrganizationRow>> {
  const work = async (tx: Orm) => {
    const before = await lockOrganization(tx, id, "update");
    const { name, plan } = before;
    const details = changesBetween({ name, plan }, change);
    if (Object.keys(details).length === 0) return { row: before, details };
    const updated_at = new Date(clock.now());
    const row = { ...before, ...change, updated_at };
    await updateRow(tx, organizations, id, { ...change, updated_at });
    if (details.plan !== undefined) await appendEvents(tx, [planEvent(row)], updated_at);
    return { row, details };
  };
  return database.transaction(operation, work, { lane: id });
}

/** Deletes an organization with everything in it. */
export function deleteOrganization({ database, clock }: Dependencies, id: string): Promise<void> {
  const work = async (tx: Orm) => {
    const organization = await lockOrganization(tx, id, "delete");
    await deleteOrganizationRows(tx, id);
    await appendEvents(tx, [organizationEvent("organization.deleted", organization)], new Date(clock.now()));
  };
  return database.transaction("delete_organization", work, { lane: id });
}
