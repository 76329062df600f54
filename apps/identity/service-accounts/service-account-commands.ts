import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Changed, changesBetween } from "../changed-fields.ts";
import type { Dependencies } from "../dependencies.ts";
import { memberEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/lifecycle-sql.ts";
import { removeMember } from "../members/member-commands.ts";
import { insertMember, lockMember } from "../members/member-sql.ts";
import { lockOrganization } from "../organizations/organization-sql.ts";
import { updateRow } from "../rows-sql.ts";
import { serviceAccounts } from "../tables.ts";
import type { ServiceAccountRow } from "./service-account.ts";
import {
  lockServiceAccount,
  requireServiceAccount,
  type ServiceAccountAddress,
} from "./service-account-sql.ts";

/** Creates a service account and its member in one transaction, with the organization locked. */
export async function createServiceAccount(
  { database, roles, newId, clock }: Dependencies,
  organization_id: string,
  name: string,
  role: string | null,
): Promise<ServiceAccountRow> {
  const now = new Date(clock.now());
  const account = { id: newId(), organization_id, name, created_at: now, updated_at: now };
  const member = {
    id: newId(),
    organization_id,
    principal: "service_account",
    user_id: null,
    service_account_id: account.id,
    role,
    created_at: now,
  } as const;
  const work = async (tx: Orm) => {
    await lockOrganization(tx, organization_id, "update");
    await tx.insert(serviceAccounts).values(account);
    await insertMember(tx, member);
    await appendEvents(tx, [memberEvent("member.created", member, roles)], now);
  };
  await database.transaction("create_service_account", work, { lane: organization_id });
  return { ...account, member_id: member.id, role, status: "active" };
}

/** Renames a service account and returns the changed fields. Locks the account's member, then the account. */
export function renameServiceAccount(
  { database, clock }: Dependencies,
  address: ServiceAccountAddress,
  name: string,
): Promise<Changed<ServiceAccountRow>> {
  const work = async (tx: Orm) => {
    const { id, member_id } = await requireServiceAccount(tx, address);
    await lockMember(tx, member_id, "share");
    await lockServiceAccount(tx, id);
    const before = await requireServiceAccount(tx, address);
    const details = changesBetween({ name: before.name }, { name });
    if (details.name === undefined) return { row: before, details };
    const updated_at = new Date(clock.now());
    await updateRow(tx, serviceAccounts, id, { name, updated_at });
    return { row: { ...before, name, updated_at }, details };
  };
  return database.transaction("rename_service_account", work, { lane: address.organization_id });
}

/** Removes the account's member, with its keys and sessions. */
export function removeServiceAccount(deps: Dependencies, address: ServiceAccountAddress): Promise<void> {
  const work = async (tx: Orm) => {
    const { member_id, organization_id } = await requireServiceAccount(tx, address);
    await removeMember(tx, deps, organization_id, member_id);
  };
  return deps.database.transaction("remove_service_account", work, { lane: address.organization_id });
}
