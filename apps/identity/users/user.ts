import { IdpSubject, isStorableSubject, SUBJECT_LENGTH_MAX } from "@ostiary/lib/contracts/admission";
import { Membership, PersonStatus, User } from "@ostiary/lib/contracts/identity-api";
import { type FieldError, validationError } from "@ostiary/lib/domain/errors";
import { TENANT_PLACE } from "@ostiary/lib/runtime/tokens";
import { type Static, Type } from "@sinclair/typebox";
import { idField, NAME_LENGTH_MAX, nullable, personText, shapeOf, timeField } from "../fields.ts";
import type { Roles } from "../roles/configured-roles.ts";
import type { idpLinks, members, organizations, users } from "../tables.ts";

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

/** A subject of an identity provider that stands for a person (ID-120). */
export const IdpLink = Type.Object(
  {
    user_id: idField("The person."),
    ...IdpSubject.properties,
    created_at: timeField("When the subject was linked."),
  },
  shapeOf("Idp link", "A subject of an identity provider that stands for a person."),
);
export type IdpLink = Static<typeof IdpLink>;

export type IdpLinkRow = typeof idpLinks.$inferSelect;

export function toIdpLink(row: IdpLinkRow): IdpLink {
  return { ...row, created_at: row.created_at.toISOString() };
}

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

/** Returns the `idp` of a body. Throws a 422 for a subject that no identity provider would issue. */
export function checkedSubject(idp: IdpSubject): IdpSubject {
  return subjectThat(isStorableSubject, "without control characters", idp, "idp.");
}

/**
 * Returns the subject that staff entered. Throws a 422 as {@link checkedSubject}, for white space around the texts, and
 * for a gateway's template of issuers, which is the issuer of no token.
 */
export function enteredSubject(body: IdpSubject): IdpSubject {
  if (body.issuer.includes(TENANT_PLACE)) {
    const message = `issuer must be the iss of a token, with the id of the tenant in place of ${TENANT_PLACE}.`;
    throw validationError([{ path: "issuer", message }]);
  }
  const isEntered = (text: string) => isStorableSubject(text) && text === text.trim();
  return subjectThat(isEntered, "without control characters, and without white space around it", body, "");
}

function subjectThat(
  isAccepted: (text: string) => boolean,
  rule: string,
  idp: IdpSubject,
  place: "idp." | "",
): IdpSubject {
  const fields: FieldError[] = (["issuer", "subject"] as const)
    .filter((part) => !isAccepted(idp[part]))
    .map((part) => ({
      path: `${place}${part}`,
      message: `${place}${part} must be text of 1 to ${SUBJECT_LENGTH_MAX} characters, ${rule}.`,
    }));
  if (fields.length > 0) throw validationError(fields);
  return idp;
}
