import { notFound } from "@ostiary/lib/domain/errors";
import type { PageRequest } from "@ostiary/lib/runtime/http";
import { type Orm, prepared } from "@ostiary/lib/runtime/stores/database";
import { and, asc, eq, gt, inArray, ne, sql } from "drizzle-orm";
import { inBatches } from "../rows-sql.ts";
import { apiKeys, invites, members, organizations, serviceAccounts, sessions } from "../tables.ts";
import type { OrganizationRow } from "./organization.ts";

const organizationById = prepared((orm) =>
  orm
    .select()
    .from(organizations)
    .where(eq(organizations.id, sql.placeholder("id"))),
);

/** Returns the organization; throws a 404 when it does not exist. */
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
 * Locks the organization until the transaction ends and returns it; throws a 404 when it does not exist. `share`
 * prevents its deletion. `update` also serializes changes of its memberships: every transaction that adds or
 * removes a member or sets a role takes this lock. So a count of members stays valid until the commit.
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

/**
 * Locks, in the order of ids, every organization that a person created, is a member of or was a member of.
 */
export async function lockOrganizationsOf(tx: Orm, user_id: string): Promise<void> {
  const joined = tx.select({ id: members.organization_id }).from(members).where(eq(members.user_id, user_id));
  const created = tx
    .select({ id: organizations.id })
    .from(organizations)
    .where(eq(organizations.created_by, user_id));
  await tx
    .select({ id: organizations.id })
    .from(organizations)
    .where(inArray(organizations.id, joined.union(created)))
    .orderBy(asc(organizations.id))
    .for("no key update");
}

/** Counts the existing organizations that a person created. */
export function countCreatedBy(tx: Orm, user_id: string): Promise<number> {
  return tx.$count(organizations, eq(organizations.created_by, user_id));
}

/** Removes the creator from the person's organizations, which the caller holds locked. */
export async function forgetCreator(tx: Orm, user_id: string): Promise<void> {
  await tx.update(organizations).set({ created_by: null }).where(eq(organizations.created_by, user_id));
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

/**
 * Deletes a locked organization and everything in it. Deletes in batches, because ON DELETE CASCADE would delete any
 * number of rows in one statement.
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
 * Returns at most `limit` organizations that would lose their last member, or their last holder of `creatorRole`, if
 * the person's memberships ended.
 */
export function organizationsThatNeed(
  tx: Orm,
  user_id: string,
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
        eq(members.user_id, user_id),
        ne(members.status, sql`'removed'`),
        sql`(not exists (${others})${creatorRole === null ? sql`` : sql` or ${lastHolder}`})`,
      ),
    )
    .orderBy(asc(organizations.id))
    .limit(limit);
}
