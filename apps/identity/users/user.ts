import { type IdpSubject, SUBJECT_LENGTH_MAX } from "@ostiary/lib/contracts/admission";
import { Membership, PersonStatus, User } from "@ostiary/lib/contracts/identity-api";
import { type FieldError, validationError } from "@ostiary/lib/domain/errors";
import { Type } from "@sinclair/typebox";
import { NAME_LENGTH_MAX, nullable, personText, shapeOf } from "../fields.ts";
import type { Roles } from "../roles/roles.ts";
import type { members, organizations, users } from "../tables.ts";

export { Membership, PersonStatus, User };

/** The `display_name` in a request: a name, or null if there is none. */
export const displayNameField = nullable(
  personText(NAME_LENGTH_MAX, {
    description: "A name, or null for none.",
    examples: ["Ada Lovelace"],
  }),
  { rule: `must be null or text of 1 to ${NAME_LENGTH_MAX} characters, without control characters` },
);

export const UpdateUserBody = Type.Object(
  { display_name: displayNameField },
  shapeOf("Update user request", "The changes."),
);
export const UpdateUserStatusBody = Type.Object(
  { status: PersonStatus },
  shapeOf("Update user status request", "The status to set."),
);

export type UserRow = typeof users.$inferSelect;

export function toUser(row: UserRow): User {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** An active membership with its organization. */
export interface MembershipRow extends Pick<typeof members.$inferSelect, "id" | "role"> {
  organization: Pick<typeof organizations.$inferSelect, "id" | "name">;
}

export function toMembership({ id, organization, role }: MembershipRow, roles: Roles): Membership {
  return { id, organization, role: roles.shown(role), status: "active" };
}

/** The characters that can be stored and compared: no control characters, and surrogates only in pairs. */
const STORABLE = /^(?:[^\p{Cc}\p{Cs}])+$/u;

/** Returns the IdP subject of a body. Throws a 422 for a subject that no identity provider would issue. */
export function checkedSubject(idp: IdpSubject): IdpSubject {
  const fields: FieldError[] = (["issuer", "subject"] as const)
    .filter((part) => idp[part].length > SUBJECT_LENGTH_MAX || !STORABLE.test(idp[part]))
    .map((part) => ({
      path: `idp.${part}`,
      message: `idp.${part} must be text of 1 to ${SUBJECT_LENGTH_MAX} characters, without control characters.`,
    }));
  if (fields.length > 0) throw validationError(fields);
  return idp;
}
