import { IdpSubject } from "@ostiary/lib/contracts/admission";
import { type Static, Type } from "@sinclair/typebox";
import { createdAt, idField, nullable, shapeOf, shownRole, trimmed, updatedAt } from "../fields.ts";
import { type Roles, roleField } from "../roles/roles.ts";
import type { members } from "../tables.ts";
import { displayNameField } from "../users/user.ts";

const principal = Type.Union([Type.Literal("user"), Type.Literal("service_account")], {
  title: "Principal",
  description: "What the member is: a person or a service account.",
});
const displayName = nullable(
  Type.String({
    description:
      "The member's name in this organization, else the person's global name, else null; a service account's name.",
    examples: ["Ada"],
  }),
);

export const MemberStatus = Type.Union([Type.Literal("active"), Type.Literal("suspended")], {
  title: "Member status",
  description: "suspended: a member still, but not admitted.",
  rule: "must be active or suspended; to remove a member, delete it",
});

/** A membership in an organization (Identity specification, Member). It never tells which person it is. */
export const Member = Type.Object(
  {
    id: idField("The member_id."),
    organization_id: idField("The organization."),
    principal,
    service_account_id: nullable(idField("Set for a service account.")),
    display_name: displayName,
    role: shownRole,
    status: MemberStatus,
    created_at: createdAt,
    updated_at: updatedAt,
  },
  shapeOf("Member", "A membership in an organization."),
);
export type Member = Static<typeof Member>;

/** What is left of a removed member, for a read by id at the organization's address. */
export const FormerMember = Type.Object(
  {
    id: idField("The member_id."),
    organization_id: idField("The organization."),
    principal,
    display_name: nullable(
      Type.String({
        description: "The name it had; null once the person's account is deleted.",
        examples: ["Ada"],
      }),
    ),
    status: Type.Literal("removed", { description: "Removal is final." }),
  },
  shapeOf("Former member", "What is left of a removed member."),
);
export type FormerMember = Static<typeof FormerMember>;

const component = (name: string) => `#/components/schemas/${name}`;

/** A member by its id, removed or not. */
export const AnyMember = Type.Union([Member, FormerMember], {
  title: "Any member",
  description: "A member or, once it is removed, what is left of it.",
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
  shapeOf("Person of member", "The person that a member is."),
);

export function addMemberBody(roles: Roles) {
  return Type.Object(
    { idp: IdpSubject, role: roleField(roles, "Left out: default_role.") },
    shapeOf("Add member request", "Whom to add."),
  );
}

/** What may be changed at either address of a member. */
const changeFields = {
  status: Type.Optional(MemberStatus),
  display_name: Type.Optional(displayNameField),
};

export function updateMemberBody(roles: Roles) {
  return Type.Object(
    { ...changeFields, role: roleField(roles, "Left out: unchanged.") },
    { ...shapeOf("Update member request", "What to change; at least one field."), minProperties: 1 },
  );
}

export const UpdateMemberSelfBody = Type.Object(changeFields, {
  ...shapeOf("Update member self request", "What to change; at least one field."),
  minProperties: 1,
});

/** A membership with the names that its display name may come from; its own is for this organization alone. */
export type MemberRow = typeof members.$inferSelect & {
  person_name: string | null;
  service_account_name: string | null;
};

/** A membership that has not ended. */
export type LivingMemberRow = MemberRow & { status: "active" | "suspended" };

export function isLiving(row: MemberRow): row is LivingMemberRow {
  return row.status !== "removed";
}

/** What a PATCH asks for; absent fields stay as they are. */
export type MemberChange = Static<ReturnType<typeof updateMemberBody>>;

/** The change that a body asks for, as it is stored. */
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
