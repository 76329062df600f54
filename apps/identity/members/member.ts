import { type Static, Type } from "@sinclair/typebox";
import { createdAt, idField, nullable, shapeOf, shownRole, updatedAt } from "../fields.ts";
import type { Roles } from "../roles/roles.ts";

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

/** A membership as stored, with the names that its display name may come from. */
export interface MemberRow {
  id: string;
  organizationId: string;
  principal: "user" | "service_account";
  userId: string | null;
  serviceAccountId: string | null;
  /** The override for this organization. */
  displayName: string | null;
  personName: string | null;
  serviceAccountName: string | null;
  role: string | null;
  status: "active" | "suspended" | "removed";
  createdAt: Date;
  updatedAt: Date;
}

/** A membership that has not ended. */
export type LivingMemberRow = MemberRow & { status: "active" | "suspended" };

export function isLiving(row: MemberRow): row is LivingMemberRow {
  return row.status !== "removed";
}

export function toMember(row: LivingMemberRow, roles: Roles): Member {
  return {
    id: row.id,
    organization_id: row.organizationId,
    principal: row.principal,
    service_account_id: row.serviceAccountId,
    display_name: shownName(row),
    role: roles.shown(row.role),
    status: row.status,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export function toFormerMember(row: MemberRow): FormerMember {
  return {
    id: row.id,
    organization_id: row.organizationId,
    principal: row.principal,
    display_name: shownName(row),
    status: "removed",
  };
}

function shownName(row: MemberRow): string | null {
  return row.serviceAccountName ?? row.displayName ?? row.personName;
}
