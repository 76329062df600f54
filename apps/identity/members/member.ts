import { IdpSubject } from "@ostiary/lib/contracts/admission";
import { AnyMember, FormerMember, Member, MemberStatus } from "@ostiary/lib/contracts/identity-api";
import { type Static, Type } from "@sinclair/typebox";
import { idField, shapeOf, trimmed } from "../fields.ts";
import { type Roles, roleField } from "../roles/configured-roles.ts";
import type { members } from "../tables.ts";
import { displayNameField } from "../users/user.ts";

export { AnyMember, FormerMember, Member, MemberStatus };

export const PersonOfMember = Type.Object(
  { user_id: idField("The person.") },
  shapeOf("Person of member", "The person whom a member stands for."),
);

export function addMemberBody(roles: Roles) {
  return Type.Object(
    { idp: IdpSubject, role: roleField(roles, "Default: default_role.") },
    shapeOf("Add member request", "The person to add."),
  );
}

/** The refusal to add a person who is a member already. */
export const memberAlready = {
  code: "CONFLICT",
  message: "This person is a member already.",
  details: { field: "idp" },
} as const;

/** The fields that a PATCH can change whether or not its path names the organization. */
const changeFields = {
  status: Type.Optional(MemberStatus),
  display_name: Type.Optional(displayNameField),
};

export function updateMemberBody(roles: Roles) {
  return Type.Object(
    { ...changeFields, role: roleField(roles, "Unchanged if omitted.") },
    { ...shapeOf("Update member request", "The changes; at least one field."), minProperties: 1 },
  );
}

export const UpdateMemberSelfBody = Type.Object(changeFields, {
  ...shapeOf("Update member self request", "The changes; at least one field."),
  minProperties: 1,
});

/**
 * A membership, with the name of its person or service account; the other name is null. `display_name` is the
 * person's name in this organization only. If it is null, the person's global name is shown.
 */
export type MemberRow = typeof members.$inferSelect & {
  person_name: string | null;
  service_account_name: string | null;
};

/** A membership that has not ended. */
export type CurrentMemberRow = MemberRow & { status: "active" | "suspended" };

export function isCurrent(row: MemberRow): row is CurrentMemberRow {
  return row.status !== "removed";
}

/** The body of a PATCH; absent fields stay unchanged. */
export type MemberChange = Static<ReturnType<typeof updateMemberBody>>;

/** Returns the body of a PATCH with the display name in its stored form. */
export function readChange({ display_name, ...rest }: MemberChange): MemberChange {
  if (display_name === undefined) return rest;
  return { ...rest, display_name: display_name === null ? null : trimmed(display_name) };
}

export function toMember(row: CurrentMemberRow, roles: Roles): Member {
  return {
    id: row.id,
    organization_id: row.organization_id,
    principal: row.principal,
    service_account_id: row.service_account_id,
    display_name: shownName(row),
    role: roles.shown(row.role),
    status: row.status,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function toFormerMember(row: MemberRow): FormerMember {
  return {
    id: row.id,
    organization_id: row.organization_id,
    principal: row.principal,
    display_name: shownName(row),
    status: "removed",
  };
}

function shownName(row: MemberRow): string | null {
  return row.service_account_name ?? row.display_name ?? row.person_name;
}
