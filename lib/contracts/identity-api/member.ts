import { type Static, Type } from "@sinclair/typebox";
import { idField, mostlyNull, nullable, textField } from "../../domain/schemas/index.ts";
import { created_at, shapeOf, shownRole, updated_at } from "./fields.ts";

const principal = Type.Union([Type.Literal("user"), Type.Literal("service_account")], {
  title: "Principal",
  description: "The kind of member: a person or a service account.",
});
const display_name = nullable(
  textField(
    "The person's name in this organization. If it is not set, the person's global name; if neither is set, null. For a service account, the name of the account.",
    "Ada",
  ),
);

export const MemberStatus = Type.Union([Type.Literal("active"), Type.Literal("suspended")], {
  title: "Member status",
  description: "suspended: still a member, but not admitted.",
  rule: "must be active or suspended; to remove a member, delete the member",
});

/** A membership in an organization (ID-27), without the id of the person. */
export const Member = Type.Object(
  {
    id: idField("The member_id."),
    organization_id: idField("The id of the organization."),
    principal,
    service_account_id: mostlyNull(idField("The id of the service account, or null for a person.")),
    display_name,
    role: shownRole,
    status: MemberStatus,
    created_at,
    updated_at,
  },
  shapeOf("Member", "A membership in an organization."),
);
export type Member = Static<typeof Member>;

export const FormerMember = Type.Object(
  {
    id: idField("The member_id."),
    organization_id: idField("The id of the organization."),
    principal,
    display_name: nullable(
      textField("The name that the member had. Null means that the person's account is deleted.", "Ada"),
    ),
    status: Type.Literal("removed", { description: "The member was removed. Removal is final." }),
  },
  shapeOf("Former member", "The remaining data of a removed member."),
);
export type FormerMember = Static<typeof FormerMember>;

const component = (name: string) => `#/components/schemas/${name}`;

export const AnyMember = Type.Union([Member, FormerMember], {
  title: "Any member",
  description: "A member, or the remaining data of a removed member.",
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

/** A non-human member of one organization (ID-50). */
export const ServiceAccount = Type.Object(
  {
    id: idField("The service_account_id."),
    organization_id: idField("The id of the organization."),
    member_id: idField("The member_id of the service account. To change status or role, update the member."),
    name: textField("The name of the service account.", "Nightly build"),
    role: shownRole,
    status: MemberStatus,
    created_at,
    updated_at,
  },
  shapeOf("Service account", "A non-human member of one organization."),
);
export type ServiceAccount = Static<typeof ServiceAccount>;
