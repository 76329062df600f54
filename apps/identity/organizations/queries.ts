import { notFound } from "@ostiary/lib/domain/errors";
import type { PageRequest } from "@ostiary/lib/runtime/http";
import { type Orm, prepared } from "@ostiary/lib/runtime/stores/database";
import { and, asc, eq, gt, inArray, ne, sql } from "drizzle-orm";
import { inBatches } from "../batches.ts";
import { apiKeys, invites, members, organizations, serviceAccounts, sessions } from "../tables.ts";
import type { OrganizationRow } from "./organization.ts";

const organizationById = prepared((orm) =>
  orm
    .select()
    .from(organizations)
    .where(eq(organizations.id, sql.placeholder("id"))),
);

/** The organization; 404 when there is none. */
export async function requireOrganization(orm: Orm, id: string): Promise<OrganizationRow> {
  const [row] = await organizationById(orm, { id });
  if (row === undefined) throw notFound("organization", id);
  return row;
}

const lockedOrganization = (strength: "key share" | "no key update" | "update") =>
  prepared((orm) =>
    orm
      .select()
      .from(organizations)
      .where(eq(organizations.id, sql.placeholder("id")))
      .for(strength),
  );
const lockedOrganizations = {
  share: lockedOrganization("key share"),
  update: lockedOrganization("no key update"),
  delete: lockedOrganization("update"),
};

/**
 * The organization, locked until the transaction ends; 404 when there is none. `share` keeps it from being
 * deleted. `update` also lets its memberships be changed by one transaction at a time: whoever adds, removes
 * or gives a role to a member holds it, so that what a rule counts stays true until the commit.
 */
export async function lockOrganization(
  tx: Orm,
  id: string,
  purpose: keyof typeof lockedOrganizations,
): Promise<OrganizationRow> {
  const [row] = await lockedOrganizations[purpose](tx, { id });
  if (row === undefined) throw notFound("organization", id);
  return row;
}

/** Locks, in the order of ids, every organization that a person is or was a member of. */
export async function lockOrganizationsOf(tx: Orm, userId: string): Promise<void> {
  const ids = tx.select({ id: members.organization_id }).from(members).where(eq(members.user_id, userId));
  await tx
    .select({ id: organizations.id })
    .from(organizations)
    .where(inArray(organizations.id, ids))
    .orderBy(asc(organizations.id))
    .for("no key update");
}

export function listOrganizations(
  orm: Orm,
  { limit, starting_after }: PageRequest,
): Promise<OrganizationRow[]> {
  return orm
    .select()
    .from(organizations)
    .where(starting_after === null ? undefined : gt(organizations.id, starting_after))
    .orderBy(asc(organizations.id))
    .limit(limit + 1);
}

export async function insertOrganization(tx: Orm, row: OrganizationRow): Promise<void> {
  await tx.insert(organizations).values(row);
}

export async function updateOrganizationName(tx: Orm, id: string, name: string, now: Date): Promise<void> {
  await tx.update(organizations).set({ name, updated_at: now }).where(eq(organizations.id, id));
}

/**
 * Deletes a locked organization and all that is in it, tens of thousands of rows at a time, where the database's
 * own cascade would be one statement of any length.
 */
export async function deleteOrganizationRows(tx: Orm, id: string): Promise<void> {
  const memberRows = await tx.select({ id: members.id }).from(members).where(eq(members.organization_id, id));
  await inBatches(memberRows, async (ids) => {
    await tx.delete(sessions).where(inArray(sessions.member_id, ids));
    const keyRows = await tx.select({ id: apiKeys.id }).from(apiKeys).where(inArray(apiKeys.member_id, ids));
    await inBatches(keyRows, (keyIds) => tx.delete(apiKeys).where(inArray(apiKeys.id, keyIds)));
    await tx.delete(members).where(inArray(members.id, ids));
  });
  for (const table of [invites, serviceAccounts]) {
    const rows = await tx.select({ id: table.id }).from(table).where(eq(table.organization_id, id));
    await inBatches(rows, (ids) => tx.delete(table).where(inArray(table.id, ids)));
  }
  await tx.delete(organizations).where(eq(organizations.id, id));
}

/**
 * Organizations that would be left without a member, or without a holder of `creatorRole`, if the person's
 * memberships ended; at most `limit` of them.
 */
export function organizationsThatNeed(
  tx: Orm,
  userId: string,
  creatorRole: string | null,
  limit: number,
): Promise<{ id: string; name: string }[]> {
  const others = sql`select 1 from ${members} other
    where other.organization_id = ${members.organization_id} and other.id <> ${members.id}
      and other.status <> 'removed'`;
  const lastHolder = sql`(${members.role} = ${creatorRole}
    and not exists (${others} and other.role = ${creatorRole}))`;
  return tx
    .select({ id: organizations.id, name: organizations.name })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organization_id))
    .where(
      and(
        eq(members.user_id, userId),
        ne(members.status, sql`'removed'`),
        sql`(not exists (${others})${creatorRole === null ? sql`` : sql` or ${lastHolder}`})`,
      ),
    )
    .orderBy(asc(organizations.id))
    .limit(limit);
}
