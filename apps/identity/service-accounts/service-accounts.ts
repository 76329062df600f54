import { notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Change, changesBetween } from "../changes.ts";
import type { Directory } from "../directory.ts";
import { memberEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/queries.ts";
import { insertMember, lockMember } from "../members/queries.ts";
import { removeMember } from "../members/removal.ts";
import { lockOrganization } from "../organizations/queries.ts";
import {
  findServiceAccount,
  insertServiceAccount,
  lockServiceAccount,
  renameServiceAccount,
} from "./queries.ts";
import type { ServiceAccountRow } from "./service-account.ts";

/** Where a service account is addressed. */
export interface ServiceAccountAddress {
  organizationId: string;
  id: string;
}

/** A service account and its member, in one step. */
export async function createServiceAccount(
  { database, roles, newId, now }: Directory,
  organizationId: string,
  name: string,
  role: string | null,
): Promise<ServiceAccountRow> {
  const createdAt = now();
  const account = { id: newId(), organizationId, name, createdAt, updatedAt: createdAt };
  const member = {
    id: newId(),
    organizationId,
    principal: "service_account",
    userId: null,
    serviceAccountId: account.id,
    role,
    createdAt,
  } as const;
  const work = async (tx: Orm) => {
    await lockOrganization(tx, organizationId, "update");
    await insertServiceAccount(tx, account);
    await insertMember(tx, member);
    await appendEvents(tx, [memberEvent("member.created", member, roles)], createdAt);
  };
  await database.transaction("create_service_account", work, { lane: organizationId });
  return { ...account, memberId: member.id, role, status: "active" };
}

/** The account at an address; 404 for an unknown one, another organization's and a removed one. */
export async function requireServiceAccount(
  orm: Orm,
  { organizationId, id }: ServiceAccountAddress,
): Promise<ServiceAccountRow> {
  const account = await findServiceAccount(orm, organizationId, id);
  if (account === null) throw notFound("service_account", id);
  return account;
}

export function changeServiceAccountName(
  { database, now }: Directory,
  address: ServiceAccountAddress,
  name: string,
): Promise<{ account: ServiceAccountRow; details: Record<string, Change> }> {
  const work = async (tx: Orm) => {
    const { memberId } = await requireServiceAccount(tx, address);
    await lockMember(tx, memberId, "share");
    await lockServiceAccount(tx, address.id);
    const before = await requireServiceAccount(tx, address);
    const details = changesBetween({ name: before.name }, { name });
    if (details.name === undefined) return { account: before, details };
    const updatedAt = now();
    await renameServiceAccount(tx, address.id, name, updatedAt);
    return { account: { ...before, name, updatedAt }, details };
  };
  return database.transaction("rename_service_account", work, { lane: address.organizationId });
}

/** Removes the account's member, with all that follows from it. */
export function removeServiceAccount(directory: Directory, address: ServiceAccountAddress): Promise<void> {
  const work = async (tx: Orm) => {
    const { memberId, organizationId } = await requireServiceAccount(tx, address);
    await removeMember(tx, directory, { id: memberId, organizationId });
  };
  return directory.database.transaction("remove_service_account", work, { lane: address.organizationId });
}
