import type { PageRequest } from "@ostiary/lib/runtime/http";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { behind, byId } from "../list-queries.ts";
import { idpLinks, members, organizations, users } from "../tables.ts";
import type { MembershipRow, UserRow } from "./user.ts";

export async function findUser(orm: Orm, id: string): Promise<UserRow | null> {
  const [row] = await orm.select().from(users).where(eq(users.id, id));
  return row ?? null;
}

/**
 * The person, locked until the transaction ends: `share` keeps the account from being deleted, `update` also
 * keeps others from changing it, `delete` waits for all who hold either.
 */
export async function lockUser(
  tx: Orm,
  id: string,
  purpose: keyof typeof lockStrength,
): Promise<UserRow | null> {
  const [row] = await tx.select().from(users).where(eq(users.id, id)).for(lockStrength[purpose]);
  return row ?? null;
}

const lockStrength = { share: "key share", update: "no key update", delete: "update" } as const;

export function listUsers(orm: Orm, { limit, starting_after }: PageRequest): Promise<UserRow[]> {
  return orm
    .select()
    .from(users)
    .where(starting_after === null ? undefined : gt(users.id, starting_after))
    .orderBy(asc(users.id))
    .limit(limit + 1);
}

export async function updateUser(
  tx: Orm,
  id: string,
  change: Pick<UserRow, "displayName" | "status" | "updatedAt">,
): Promise<void> {
  await tx.update(users).set(change).where(eq(users.id, id));
}

/** A person's active memberships, oldest first. */
export function listMemberships(
  orm: Orm,
  userId: string,
  { limit, starting_after }: PageRequest,
): Promise<MembershipRow[]> {
  return orm
    .select({
      id: members.id,
      organizationId: organizations.id,
      organizationName: organizations.name,
      role: members.role,
    })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organizationId))
    .where(
      and(eq(members.userId, userId), eq(members.status, sql`'active'`), behind(members.id, starting_after)),
    )
    .orderBy(byId(members.id))
    .limit(limit + 1);
}

/** An IdP subject: who says so, and whom it names there. */
export interface Subject {
  issuer: string;
  subject: string;
}

/** The person of a subject, in one indexed query. */
export async function findUserBySubject(orm: Orm, { issuer, subject }: Subject): Promise<UserRow | null> {
  const [row] = await orm
    .select({ user: users })
    .from(idpLinks)
    .innerJoin(users, eq(users.id, idpLinks.userId))
    .where(and(eq(idpLinks.issuer, issuer), eq(idpLinks.subject, subject)));
  return row?.user ?? null;
}

/**
 * Creates a person for a subject that has none. Of several at once one does, and the others, having waited
 * for it, get null.
 */
export async function insertUserOfSubject(
  tx: Orm,
  { issuer, subject }: Subject,
  row: UserRow,
): Promise<UserRow | null> {
  const claimed = await tx
    .insert(idpLinks)
    .values({ issuer, subject, userId: row.id, createdAt: row.createdAt })
    .onConflictDoNothing()
    .returning({ userId: idpLinks.userId });
  if (claimed.length === 0) return null;
  await tx.insert(users).values(row);
  return row;
}

/** Deletes the account itself and its links; whatever else belongs to it must be gone. */
export async function deleteUser(tx: Orm, id: string): Promise<void> {
  await tx.delete(idpLinks).where(eq(idpLinks.userId, id));
  await tx.delete(users).where(eq(users.id, id));
}
