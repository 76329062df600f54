import type { IdpSubject } from "@ostiary/lib/contracts/admission";
import { ApiError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { Directory } from "../directory.ts";
import { memberEvent } from "../lifecycle/lifecycle-event.ts";
import { appendEvents } from "../lifecycle/queries.ts";
import { lockOrganization } from "../organizations/queries.ts";
import { personOfSubject } from "../users/person-of-subject.ts";
import { findUserBySubject } from "../users/queries.ts";
import type { UserRow } from "../users/user.ts";
import type { LivingMemberRow } from "./member.ts";
import { findMembership, insertMember, type NewMember } from "./queries.ts";

/**
 * Adds the person of an IdP subject, who may be new to the directory, to an organization.
 *
 * A new person is made with the organization locked already: the claim on a subject makes validations of that
 * subject wait, and must not be held while this transaction waits itself.
 */
export function addMember(
  directory: Directory,
  organizationId: string,
  idp: IdpSubject,
  role: string | null,
): Promise<LivingMemberRow> {
  const work = async (tx: Orm) => {
    const isNew = (await findUserBySubject(tx, idp)) === null;
    if (isNew) await lockOrganization(tx, organizationId, "update");
    const person = await personOfSubject(tx, directory, idp);
    if (!isNew) await lockOrganization(tx, organizationId, "update");
    if ((await findMembership(tx, organizationId, person.id)) !== null) {
      throw new ApiError("CONFLICT", {
        message: "This person is a member already.",
        details: { field: "idp" },
      });
    }
    return joinOrganization(tx, directory, { organizationId, person, role });
  };
  return directory.database.transaction("add_member", work, { lane: organizationId });
}

/**
 * Makes a person who is no member one, as the last step of a transaction that holds the person for share and
 * the organization for update.
 */
export async function joinOrganization(
  tx: Orm,
  { newId, now, roles }: Pick<Directory, "newId" | "now" | "roles">,
  { organizationId, person, role }: { organizationId: string; person: UserRow; role: string | null },
): Promise<LivingMemberRow> {
  const createdAt = now();
  const member = {
    id: newId(),
    organizationId,
    principal: "user",
    userId: person.id,
    serviceAccountId: null,
    role,
    createdAt,
  } as const satisfies NewMember;
  await insertMember(tx, member);
  await appendEvents(tx, [memberEvent("member.created", member, roles)], createdAt);
  return {
    ...member,
    displayName: null,
    personName: person.displayName,
    serviceAccountName: null,
    status: "active",
    updatedAt: createdAt,
  };
}
