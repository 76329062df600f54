import { IdpSubject } from "@ostiary/lib/contracts/admission";
import { type Static, Type } from "@sinclair/typebox";
import {
  createdAt,
  idField,
  mostlyNull,
  nullable,
  shapeOf,
  shownRole,
  trimmed,
  updatedAt,
} from "../fields.ts";
import { type Roles, roleField } from "../roles/roles.ts";
import type { members } from "../tables.ts";
import { displayNameField } from "../users/user.ts";

const principal = Type.Union([Type.Literal("user"), Type.Literal("service_account")], {
  title: "Principal",
  description: "The kind of member: a person or a service account.",
});
const displayName = nullable(
  Type.String({
    description:
      "A person's name in this organization, otherwise the person's global name, otherwise null; a service account's own name.",
    examples: ["Ada"],
  }),
);

export const MemberStatus = Type.Union([Type.Literal("active"), Type.Literal("suspended")], {
  title: "Member status",
  description: "suspended: still a member, but not admitted.",
  rule: "must be active or suspended; to remove a member, delete it",
});

/** A membership in an organization (ID-27), without the id of its person. */
export const Member = Type.Object(
  {
    id: idField("The member_id."),
    organization_id: idField("The organization."),
    principal,
    service_account_id: mostlyNull(idField("Set for a service account.")),
    display_name: displayName,
    role: shownRole,
    status: MemberStatus,
    created_at: createdAt,
    updated_at: updatedAt,
  },
  shapeOf("Member", "A membership in an organization."),
);
export type Member = Static<typeof Member>;

/** The remaining facts about a removed member, for a read by id at the organization's address. */
export const FormerMember = Type.Object(
  {
    id: idField("The member_id."),
    organization_id: idField("The organization."),
    principal,
    display_name: nullable(
      Type.String({
        description: "The name that the member had. Null means that the person's account is deleted.",
        examples: ["Ada"],
      }),
    ),
    status: Type.Literal("removed", { description: "Removal is final." }),
  },
  shapeOf("Former member", "The remaining data of a removed member."),
);
export type FormerMember = Static<typeof FormerMember>;

const component = (name: string) => `#/components/schemas/${name}`;

/** A member by id, removed or not. */
export const AnyMember = Type.Union([Member, FormerMember], {
  title: "Any member",
  description: "A member, or the remaining data of a removed one.",
  openapi: {
    discriminator: {
      propertyName: "status",
      mapping: {
        active: component("Member"),
        suspended: component("Member"),
        removed: component("FormerMember"),
      },
    },
  },
});

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

/** The fields that both addresses of a member can change. */
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
 * A membership with the names from which its display name may come. Its own name is for this organization
 * alone.
 */
export type MemberRow = typeof members.$inferSelect & {
  person_name: string | null;
  service_account_name: string | null;
};

/** A membership that has not ended. */
export type LivingMemberRow = MemberRow & { status: "active" | "suspended" };

export function isLiving(row: MemberRow): row is LivingMemberRow {
  return row.status !== "removed";
}

/** The body of a PATCH; absent fields stay unchanged. */
export type MemberChange = Static<ReturnType<typeof updateMemberBody>>;

/** Returns the change in a body, with the display name as it is stored. */
export function readChange({ display_name, ...rest }: MemberChange): MemberChange {
  if (display_name === undefined) return rest;
  return { ...rest, display_name: display_name === null ? null : trimmed(display_name) };
}

export function toMember(row: LivingMemberRow, roles: Roles): Member {
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
