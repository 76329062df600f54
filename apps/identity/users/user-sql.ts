import type { IdpSubject } from "@ostiary/lib/contracts/admission";
import { notFound } from "@ostiary/lib/domain/errors";
import type { PageRequest } from "@ostiary/lib/runtime/http";
import { type Orm, prepared } from "@ostiary/lib/runtime/stores/database";
import { and, asc, eq, getTableColumns, gt, sql } from "drizzle-orm";
import { byId, idAfter } from "../rows-sql.ts";
import { idpLinks, members, organizations, users } from "../tables.ts";
import type { IdpLinkRow, MembershipRow, UserRow } from "./user.ts";

/** Returns the person; throws a 404 for an unknown id. */
export async function requireUser(orm: Orm, id: string): Promise<UserRow> {
  const row = await findUser(orm, id);
  if (row === null) throw notFound("user", id);
  return row;
}

const userById = prepared((orm) =>
  orm
    .select()
    .from(users)
    .where(eq(users.id, sql.placeholder("id"))),
);

export async function findUser(orm: Orm, id: string): Promise<UserRow | null> {
  const [row] = await userById(orm, { id });
  return row ?? null;
}

const lockedUser = (strength: "share" | "no key update" | "update") =>
  prepared((orm) =>
    orm
      .select()
      .from(users)
      .where(eq(users.id, sql.placeholder("id")))
      .for(strength),
  );
const lockedUsers = {
  share: lockedUser("share"),
  update: lockedUser("no key update"),
  delete: lockedUser("update"),
};

/**
 * Locks the person until the transaction ends and returns the person, or null for an unknown id. `share` prevents
 * changes and the deletion of the account. `update` excludes other changes. `delete` excludes all other locks.
 */
export async function lockUser(
  tx: Orm,
  id: string,
  purpose: keyof typeof lockedUsers,
): Promise<UserRow | null> {
  const [row] = await lockedUsers[purpose](tx, { id });
  return row ?? null;
}

/** Works like {@link lockUser}, and throws a 404 when there is no such person. */
export async function lockExistingUser(
  tx: Orm,
  id: string,
  purpose: keyof typeof lockedUsers,
): Promise<UserRow> {
  const row = await lockUser(tx, id, purpose);
  if (row === null) throw notFound("user", id);
  return row;
}

export function listUsers(orm: Orm, { limit, starting_after }: PageRequest): Promise<UserRow[]> {
  return orm
    .select()
    .from(users)
    .where(starting_after === null ? undefined : gt(users.id, starting_after))
    .orderBy(asc(users.id))
    .limit(limit + 1);
}

/** Returns a person's active memberships, oldest first. */
export function listMemberships(
  orm: Orm,
  user_id: string,
  { limit, starting_after }: PageRequest,
): Promise<MembershipRow[]> {
  return orm
    .select({
      id: members.id,
      organization: { id: organizations.id, name: organizations.name },
      role: members.role,
    })
    .from(members)
    .innerJoin(organizations, eq(organizations.id, members.organization_id))
    .where(
      and(
        eq(members.user_id, user_id),
        eq(members.status, sql`'active'`),
        idAfter(members.id, starting_after),
      ),
    )
    .orderBy(byId(members.id))
    .limit(limit + 1);
}

const userBySubject = prepared((orm) =>
  orm
    .select(getTableColumns(users))
    .from(idpLinks)
    .innerJoin(users, eq(users.id, idpLinks.user_id))
    .where(
      and(eq(idpLinks.issuer, sql.placeholder("issuer")), eq(idpLinks.subject, sql.placeholder("subject"))),
    ),
);

/** Returns the person of an IdP subject, or null for an unknown subject. */
export async function findUserBySubject(orm: Orm, { issuer, subject }: IdpSubject): Promise<UserRow | null> {
  const [row] = await userBySubject(orm, { issuer, subject });
  return row ?? null;
}

/**
 * Creates a person for a subject without one. When several calls run at once, one succeeds. The other calls wait
 * for that call's transaction and return null.
 */
export async function insertUserOfSubject(
  tx: Orm,
  { issuer, subject }: IdpSubject,
  row: UserRow,
): Promise<UserRow | null> {
  const link = { issuer, subject, user_id: row.id, created_at: row.created_at };
  if (!(await insertLink(tx, link))) return null;
  await tx.insert(users).values(row);
  return row;
}

/**
 * Links a subject to a person. Returns false if the subject is linked already, and waits for a transaction that links
 * it.
 */
export async function insertLink(tx: Orm, link: IdpLinkRow): Promise<boolean> {
  const inserted = await tx
    .insert(idpLinks)
    .values(link)
    .onConflictDoNothing()
    .returning({ user_id: idpLinks.user_id });
  return inserted.length > 0;
}

/** Returns the number of subjects that stand for a person. */
export function countLinks(tx: Orm, user_id: string): Promise<number> {
  return tx.$count(idpLinks, eq(idpLinks.user_id, user_id));
}

/** Deletes the account and its links. The caller must first delete everything else that belongs to the account. */
export async function deleteUser(tx: Orm, id: string): Promise<void> {
  await tx.delete(idpLinks).where(eq(idpLinks.user_id, id));
  await tx.delete(users).where(eq(users.id, id));
}
