import type { PageRequest } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import { behind, byId } from "../list-queries.ts";
import { members, serviceAccounts } from "../tables.ts";
import type { ServiceAccountRow } from "./service-account.ts";

/** Read from the members, whose index holds the service accounts that are not removed in the order of a list. */
function selectServiceAccounts(orm: Orm, condition: SQL | undefined) {
  return orm
    .select({
      id: serviceAccounts.id,
      organizationId: serviceAccounts.organizationId,
      memberId: members.id,
      name: serviceAccounts.name,
      role: members.role,
      status: sql<ServiceAccountRow["status"]>`${members.status}`,
      createdAt: serviceAccounts.createdAt,
      updatedAt: serviceAccounts.updatedAt,
    })
    .from(members)
    .innerJoin(serviceAccounts, eq(serviceAccounts.id, members.serviceAccountId))
    .where(and(ne(members.status, sql`'removed'`), condition));
}

export async function findServiceAccount(
  orm: Orm,
  organizationId: string,
  id: string,
): Promise<ServiceAccountRow | null> {
  const [row] = await selectServiceAccounts(
    orm,
    and(eq(members.serviceAccountId, id), eq(members.organizationId, organizationId)),
  );
  return row ?? null;
}

export function listServiceAccounts(
  orm: Orm,
  organizationId: string,
  { limit, starting_after }: PageRequest,
): Promise<ServiceAccountRow[]> {
  return selectServiceAccounts(
    orm,
    and(eq(members.organizationId, organizationId), behind(members.serviceAccountId, starting_after)),
  )
    .orderBy(byId(members.serviceAccountId))
    .limit(limit + 1);
}

export async function insertServiceAccount(
  tx: Orm,
  row: Pick<ServiceAccountRow, "id" | "organizationId" | "name" | "createdAt" | "updatedAt">,
): Promise<void> {
  await tx.insert(serviceAccounts).values(row);
}

/** Locks the account's own row, so that the name that is changed is the one that was read. */
export async function lockServiceAccount(tx: Orm, id: string): Promise<void> {
  await tx
    .select({ id: serviceAccounts.id })
    .from(serviceAccounts)
    .where(eq(serviceAccounts.id, id))
    .for("no key update");
}

export async function renameServiceAccount(tx: Orm, id: string, name: string, now: Date): Promise<void> {
  await tx.update(serviceAccounts).set({ name, updatedAt: now }).where(eq(serviceAccounts.id, id));
}
