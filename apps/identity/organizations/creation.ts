import { notFound } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Directory } from "../directory.ts";
import { memberEvent, organizationEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/queries.ts";
import { insertMember, type NewMember } from "../members/queries.ts";
import { lockUser } from "../users/queries.ts";
import type { OrganizationRow } from "./organization.ts";
import { insertOrganization } from "./queries.ts";

/** An organization and its first member, who holds `creator_role`, in one step. */
export async function createOrganization(
  { database, roles, newId, now }: Directory,
  userId: string,
  name: string,
): Promise<{ organization: OrganizationRow; memberId: string }> {
  const createdAt = now();
  const organization: OrganizationRow = { id: newId(), name, createdAt, updatedAt: createdAt };
  const founder: NewMember = {
    id: newId(),
    organizationId: organization.id,
    principal: "user",
    userId,
    serviceAccountId: null,
    role: roles.creator,
    createdAt,
  };
  const work = async (tx: Orm) => {
    if ((await lockUser(tx, userId, "share")) === null) throw notFound("user", userId);
    await insertOrganization(tx, organization);
    await insertMember(tx, founder);
    const events = [
      organizationEvent("organization.created", organization),
      memberEvent("member.created", founder, roles),
    ];
    await appendEvents(tx, events, createdAt);
  };
  await database.transaction("create_organization", work, { lane: userId });
  return { organization, memberId: founder.id };
}
