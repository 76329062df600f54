import { notFound } from "@ostiary/lib/domain/errors";
import type { PageRequest } from "@ostiary/lib/runtime/http";
import { type Orm, prepared } from "@ostiary/lib/runtime/stores/database";
import { and, asc, eq, getTableColumns, inArray, isNull, ne, type SQL, sql } from "drizzle-orm";
import { byId, idAfter, inBatches } from "../rows-sql.ts";
import { apiKeys, members, serviceAccounts, sessions, users } from "../tables.ts";
import { type CurrentMemberRow, isCurrent, type MemberRow } from "./member.ts";

const memberColumns = {
  ...getTableColumns(members),
  person_name: users.display_name,
  service_account_name: serviceAccounts.name,
};

/** Matches members that are not removed. The literal lets the planner use the indexes over only these members. */
const notRemoved = ne(members.status, sql`'removed'`);

function selectMembers(orm: Orm, condition: SQL | undefined) {
  return orm
    .select(memberColumns)
    .from(members)
    .leftJoin(users, eq(users.id, members.user_id))
    .leftJoin(serviceAccounts, eq(serviceAccounts.id, members.service_account_id))
    .where(condition);
}

const memberById = prepared((orm) => selectMembers(orm, eq(members.id, sql.placeholder("id"))));

async function findMember(orm: Orm, id: string): Promise<MemberRow | null> {
  const [row] = await memberById(orm, { id });
  return row ?? null;
}

/** The ids that name a member in a URL path: the member's id, with or without the id of its organization. */
export interface MemberAddress {
  member_id: string;
  organization_id?: string;
}

/**
 * Returns a membership, even a removed one. Throws a 404 for an unknown id and for a member of another organization
 * than the named one.
 */
export async function requireMember(
  orm: Orm,
  { member_id, organization_id }: MemberAddress,
): Promise<MemberRow> {
  const row = await findMember(orm, member_id);
  if (row === null || (organization_id ?? row.organization_id) !== row.organization_id) {
    throw notFound("member", member_id);
  }
  return row;
}

/** Works like {@link requireMember}, but throws a 404 for a removed member too. */
export async function requireCurrentMember(orm: Orm, address: MemberAddress): Promise<CurrentMemberRow> {
  const row = await requireMember(orm, address);
  if (!isCurrent(row)) throw notFound("member", address.member_id);
  return row;
}

/**
 * Returns the id of the person of a membership, even of a removed one. Throws a 404 for a service account, and for a
 * person whose account was deleted.
 */
export async function requirePersonOf(orm: Orm, member_id: string): Promise<string> {
  const row = await findMember(orm, member_id);
  if (!row?.user_id) throw notFound("user");
  return row.user_id;
}

/** Returns the person's membership in an organization, or null if the person is not or no longer a member. */
export async function findMembership(
  orm: Orm,
  organization_id: string,
  user_id: string,
): Promise<CurrentMemberRow | null> {
  const [row] = await selectMembers(
    orm,
    and(eq(members.organization_id, organization_id), eq(members.user_id, user_id), notRemoved),
  );
  return row !== undefined && isCurrent(row) ? row : null;
}

const lockedMember = (strength: "share" | "no key update") =>
  prepared((orm) =>
    orm
      .select({ id: members.id })
      .from(members)
      .where(and(eq(members.id, sql.placeholder("id")), notRemoved))
      .for(strength),
  );
const lockedMembers = { share: lockedMember("share"), update: lockedMember("no key update") };

/**
 * Locks a membership that has not ended, until the transaction ends. `share` prevents changes and removal;
 * `update` is the lock for a change or removal. Returns false when there is no such membership.
 */
export async function lockMember(tx: Orm, id: string, purpose: keyof typeof lockedMembers): Promise<boolean> {
  const locked = await lockedMembers[purpose](tx, { id });
  return locked.length > 0;
}

/** Locks the person's membership in an organization for `share`. Returns the membership, or null if there is none. */
export async function lockMembership(
  tx: Orm,
  organization_id: string,
  user_id: string,
): Promise<Pick<MemberRow, "id" | "role" | "status"> | null> {
  const [row] = await tx
    .select({ id: members.id, role: members.role, status: members.status })
    .from(members)
    .where(and(eq(members.organization_id, organization_id), eq(members.user_id, user_id), notRemoved))
    .for("share");
  return row ?? null;
}

export async function listMembers(
  orm: Orm,
  organization_id: string,
  { limit, starting_after }: PageRequest,
): Promise<CurrentMemberRow[]> {
  const rows = await selectMembers(
    orm,
    and(eq(members.organization_id, organization_id), notRemoved, idAfter(members.id, starting_after)),
  )
    .orderBy(byId(members.id))
    .limit(limit + 1);
  return rows.filter(isCurrent);
}

/** A membership to insert. The insert sets `status` and `updated_at`. */
export type NewMember = Pick<
  MemberRow,
  "id" | "organization_id" | "principal" | "user_id" | "service_account_id" | "role" | "created_at"
>;

/** Adds an active member. */
export async function insertMember(tx: Orm, member: NewMember): Promise<void> {
  await tx.insert(members).values({ ...member, status: "active", updated_at: member.created_at });
}

/**
 * Returns whether the member's organization has another member or, if `role` is set, another member with this role.
 * Removed members do not count.
 */
export async function hasOtherMember(
  tx: Orm,
  { id, organization_id }: Pick<MemberRow, "id" | "organization_id">,
  role?: string,
): Promise<boolean> {
  const others = await tx
    .select({ id: members.id })
    .from(members)
    .where(
      and(
        eq(members.organization_id, organization_id),
        ne(members.id, id),
        notRemoved,
        role === undefined ? undefined : eq(members.role, role),
      ),
    )
    .limit(1);
  return others.length > 0;
}

/**
 * Locks the memberships of a person that have not ended, for their removal. Returns them ordered by
 * organization.
 */
export async function lockMembershipsOf(tx: Orm, user_id: string): Promise<NewMember[]> {
  return tx
    .select()
    .from(members)
    .where(and(eq(members.user_id, user_id), notRemoved))
    .orderBy(asc(members.organization_id))
    .for("no key update");
}

/**
 * Ends memberships, revokes their keys and deletes their sessions. The caller holds the memberships locked, so that
 * no key or session is created at the same time.
 */
export async function endMemberships(tx: Orm, ended: readonly { id: string }[], now: Date): Promise<void> {
  await inBatches(ended, async (ids) => {
    const keyRows = await tx
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(inArray(apiKeys.member_id, ids), isNull(apiKeys.revoked_at)));
    await inBatches(keyRows, (keyIds) =>
      tx.update(apiKeys).set({ revoked_at: now }).where(inArray(apiKeys.id, keyIds)),
    );
    await tx.delete(sessions).where(inArray(sessions.member_id, ids));
    await tx.update(members).set({ status: "removed", updated_at: now }).where(inArray(members.id, ids));
  });
}

/** Removes the person's id and display names from former memberships for good. */
export async function forgetPerson(tx: Orm, user_id: string): Promise<void> {
  const former = await tx.select({ id: members.id }).from(members).where(eq(members.user_id, user_id));
  await inBatches(former, (ids) =>
    tx.update(members).set({ user_id: null, display_name: null }).where(inArray(members.id, ids)),
  );
}
