import { notFound } from "@ostiary/lib/domain/errors";
import type { PageRequest } from "@ostiary/lib/runtime/http";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { and, asc, eq, inArray, isNull, ne, type SQL, sql } from "drizzle-orm";
import { inBatches } from "../batches.ts";
import { behind, byId } from "../list-queries.ts";
import { apiKeys, members, serviceAccounts, sessions, users } from "../tables.ts";
import { isLiving, type LivingMemberRow, type MemberRow } from "./member.ts";

const memberColumns = {
  id: members.id,
  organizationId: members.organizationId,
  principal: members.principal,
  userId: members.userId,
  serviceAccountId: members.serviceAccountId,
  displayName: members.displayName,
  personName: users.displayName,
  serviceAccountName: serviceAccounts.name,
  role: members.role,
  status: members.status,
  createdAt: members.createdAt,
  updatedAt: members.updatedAt,
};

/** Written out, not a parameter, so that the indexes over non-removed members serve it. */
const notRemoved = ne(members.status, sql`'removed'`);

function selectMembers(orm: Orm, condition: SQL | undefined) {
  return orm
    .select(memberColumns)
    .from(members)
    .leftJoin(users, eq(users.id, members.userId))
    .leftJoin(serviceAccounts, eq(serviceAccounts.id, members.serviceAccountId))
    .where(condition);
}

/** A membership, removed ones too. */
export async function findMember(orm: Orm, id: string): Promise<MemberRow | null> {
  const [row] = await selectMembers(orm, eq(members.id, id));
  return row ?? null;
}

/** A membership that has not ended. */
export async function findLivingMember(orm: Orm, id: string): Promise<LivingMemberRow | null> {
  const row = await findMember(orm, id);
  return row !== null && isLiving(row) ? row : null;
}

/** Where a member is addressed: in its organization, or by itself. */
export interface MemberAddress {
  memberId: string;
  organizationId?: string;
}

/**
 * The member at an address, read before a transaction that has to know its organization, which never changes.
 * 404 for an unknown or removed one, and for one of another organization.
 */
export async function memberAtAddress(
  database: Database,
  { memberId, organizationId }: MemberAddress,
): Promise<{ id: string; organizationId: string }> {
  const member = await database.run("select_member", (orm) => findLivingMember(orm, memberId));
  const found = member !== null && (organizationId ?? member.organizationId) === member.organizationId;
  if (!found) throw notFound("member", memberId);
  return { id: member.id, organizationId: member.organizationId };
}

/** The person's membership in an organization that has not ended. */
export async function findMembership(
  orm: Orm,
  organizationId: string,
  userId: string,
): Promise<LivingMemberRow | null> {
  const [row] = await selectMembers(
    orm,
    and(eq(members.organizationId, organizationId), eq(members.userId, userId), notRemoved),
  );
  return row !== undefined && isLiving(row) ? row : null;
}

/**
 * Locks a membership that has not ended until the transaction ends: `share` keeps it from being changed or
 * removed, `update` is for the one who does that. False when there is none.
 */
export async function lockMember(tx: Orm, id: string, purpose: keyof typeof lockStrength): Promise<boolean> {
  const locked = await tx
    .select({ id: members.id })
    .from(members)
    .where(and(eq(members.id, id), notRemoved))
    .for(lockStrength[purpose]);
  return locked.length > 0;
}

/** The person's membership in an organization that has not ended, locked for `share`. */
export async function lockMembership(
  tx: Orm,
  organizationId: string,
  userId: string,
): Promise<Pick<MemberRow, "id" | "role" | "status"> | null> {
  const [row] = await tx
    .select({ id: members.id, role: members.role, status: members.status })
    .from(members)
    .where(and(eq(members.organizationId, organizationId), eq(members.userId, userId), notRemoved))
    .for(lockStrength.share);
  return row ?? null;
}

const lockStrength = { share: "share", update: "no key update" } as const;

export async function listMembers(
  orm: Orm,
  organizationId: string,
  { limit, starting_after }: PageRequest,
): Promise<LivingMemberRow[]> {
  const rows = await selectMembers(
    orm,
    and(eq(members.organizationId, organizationId), notRemoved, behind(members.id, starting_after)),
  )
    .orderBy(byId(members.id))
    .limit(limit + 1);
  return rows.filter(isLiving);
}

/** A membership without what it is given when it is written or read. */
export type NewMember = Pick<
  MemberRow,
  "id" | "organizationId" | "principal" | "userId" | "serviceAccountId" | "role" | "createdAt"
>;

/** Adds an active member. */
export async function insertMember(tx: Orm, member: NewMember): Promise<void> {
  await tx.insert(members).values({ ...member, status: "active", updatedAt: member.createdAt });
}

export async function updateMember(
  tx: Orm,
  id: string,
  change: Pick<LivingMemberRow, "role" | "status" | "displayName" | "updatedAt">,
): Promise<void> {
  await tx.update(members).set(change).where(eq(members.id, id));
}

/** Whether the organization has a member that has not ended, beside `memberId`, with `role` if one is given. */
export async function hasOtherMember(
  tx: Orm,
  organizationId: string,
  memberId: string,
  role?: string,
): Promise<boolean> {
  const others = await tx
    .select({ id: members.id })
    .from(members)
    .where(
      and(
        eq(members.organizationId, organizationId),
        ne(members.id, memberId),
        notRemoved,
        role === undefined ? undefined : eq(members.role, role),
      ),
    )
    .limit(1);
  return others.length > 0;
}

/** The memberships of a person that have not ended, locked for their removal, by organization. */
export async function lockMembershipsOf(tx: Orm, userId: string): Promise<NewMember[]> {
  return tx
    .select({
      id: members.id,
      organizationId: members.organizationId,
      principal: members.principal,
      userId: members.userId,
      serviceAccountId: members.serviceAccountId,
      role: members.role,
      createdAt: members.createdAt,
    })
    .from(members)
    .where(and(eq(members.userId, userId), notRemoved))
    .orderBy(asc(members.organizationId))
    .for("no key update");
}

/**
 * Ends memberships that the transaction holds locked: no longer members, their keys revoked, their sessions
 * deleted. The lock comes first, so that no key or session is made for them meanwhile.
 */
export async function endMemberships(tx: Orm, ended: readonly { id: string }[], now: Date): Promise<void> {
  await inBatches(ended, async (ids) => {
    const keyRows = await tx
      .select({ id: apiKeys.id })
      .from(apiKeys)
      .where(and(inArray(apiKeys.memberId, ids), isNull(apiKeys.revokedAt)));
    await inBatches(keyRows, (keyIds) =>
      tx.update(apiKeys).set({ revokedAt: now }).where(inArray(apiKeys.id, keyIds)),
    );
    await tx.delete(sessions).where(inArray(sessions.memberId, ids));
    await tx.update(members).set({ status: "removed", updatedAt: now }).where(inArray(members.id, ids));
  });
}

/** Takes the person out of its former memberships: they lose its name for good. */
export async function forgetPerson(tx: Orm, userId: string): Promise<void> {
  const former = await tx.select({ id: members.id }).from(members).where(eq(members.userId, userId));
  await inBatches(former, (ids) =>
    tx.update(members).set({ userId: null, displayName: null }).where(inArray(members.id, ids)),
  );
}
