import { notFound } from "@ostiary/lib/domain/errors";
import type { PageRequest } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, eq, getTableColumns, ne, type SQL, sql } from "drizzle-orm";
import { byId, idAfter } from "../rows-sql.ts";
import { members, serviceAccounts } from "../tables.ts";
import type { ServiceAccountRow } from "./service-account.ts";

/** The ids that name a service account in a URL path. */
export interface ServiceAccountAddress {
  organization_id: string;
  service_account_id: string;
}

/** Reads from the members, because an index on members lists the non-removed service accounts in order. */
function selectServiceAccounts(orm: Orm, condition: SQL | undefined) {
  return orm
    .select({
      ...getTableColumns(serviceAccounts),
      member_id: members.id,
      role: members.role,
      status: sql<ServiceAccountRow["status"]>`${members.status}`,
    })
    .from(members)
    .innerJoin(serviceAccounts, eq(serviceAccounts.id, members.service_account_id))
    .where(and(ne(members.status, sql`'removed'`), condition));
}

/** Returns a service account. Throws a 404 if it is unknown, removed or in another organization than the named one. */
export async function requireServiceAccount(
  orm: Orm,
  { organization_id, service_account_id }: ServiceAccountAddress,
): Promise<ServiceAccountRow> {
  const [row] = await selectServiceAccounts(
    orm,
    and(eq(members.service_account_id, service_account_id), eq(members.organization_id, organization_id)),
  );
  if (row === undefined) throw notFound("service_account", service_account_id);
  return row;
}

export function listServiceAccounts(
  orm: Orm,
  organization_id: string,
  { limit, starting_after }: PageRequest,
): Promise<ServiceAccountRow[]> {
  return selectServiceAccounts(
    orm,
    and(eq(members.organization_id, organization_id), idAfter(members.service_account_id, starting_after)),
  )
    .orderBy(byId(members.service_account_id))
    .limit(limit + 1);
}

/** Locks the account's own row, so that its name does not change between the read and the write. */
export async function lockServiceAccount(tx: Orm, id: string): Promise<void> {
  await tx
    .select({ id: serviceAccounts.id })
    .from(serviceAccounts)
    .where(eq(serviceAccounts.id, id))
    .for("no key update");
}
