import { PlanName } from "@ostiary/lib/domain/routes";
import { type Static, Type } from "@sinclair/typebox";
import { idField, mostlyNull, nullable, shownRole, timeField } from "../fields.ts";
import type { Roles } from "../roles/configured-roles.ts";

const MemberData = Type.Object(
  {
    member_id: idField("The member."),
    principal: Type.Union([Type.Literal("user"), Type.Literal("service_account")], {
      description: "The kind of member: a person or a service account.",
    }),
    user_id: nullable(idField("The person, or null for a service account.")),
    service_account_id: mostlyNull(idField("The id of the service account, or null for a person.")),
    role: shownRole,
  },
  { title: "Member event data", description: "The member of a membership event." },
);

const OrganizationData = Type.Object(
  { name: Type.String({ description: "The organization's name.", examples: ["Analytical Engines"] }) },
  { title: "Organization event data", description: "The organization of an organization event." },
);

const PlanData = Type.Object(
  {
    name: OrganizationData.properties.name,
    plan: mostlyNull(PlanName, { description: "The new plan, or null for no plan." }),
  },
  { title: "Plan event data", description: "The organization of a plan event, with its plan." },
);

/** An event of a membership or an organization (ID-93, ID-94). */
export const LifecycleEvent = Type.Object(
  {
    id: idField("Position in the feed; a later event has a larger id."),
    type: Type.Union(
      [
        Type.Literal("organization.created"),
        Type.Literal("organization.plan_changed"),
        Type.Literal("member.created"),
        Type.Literal("member.removed"),
        Type.Literal("organization.deleted"),
      ],
      { description: "The kind of event.", examples: ["member.created"] },
    ),
    occurred_at: timeField("When the change was made."),
    organization_id: idField("The id of the organization."),
    data: Type.Union([MemberData, PlanData, OrganizationData], {
      title: "Lifecycle event data",
      description: "The changed object: a member for membership events, otherwise the organization.",
    }),
  },
  { title: "Lifecycle event", description: "A change of a membership or an organization." },
);
export type LifecycleEvent = Static<typeof LifecycleEvent>;

/** An event to append. The insert adds its id and its time. */
export type NewEvent = Pick<LifecycleEvent, "type" | "organization_id" | "data">;

/** The fields of a membership that membership events contain. */
type EventMember = Omit<Static<typeof MemberData>, "member_id"> & { id: string; organization_id: string };

export function memberEvent(
  type: "member.created" | "member.removed",
  member: EventMember,
  roles: Roles,
): NewEvent {
  return {
    type,
    organization_id: member.organization_id,
    data: {
      member_id: member.id,
      principal: member.principal,
      user_id: member.user_id,
      service_account_id: member.service_account_id,
      role: roles.shown(member.role),
    },
  };
}

export function organizationEvent(
  type: "organization.created" | "organization.deleted",
  organization: { id: string; name: string },
): NewEvent {
  return { type, organization_id: organization.id, data: { name: organization.name } };
}

export function planEvent({ id, name, plan }: { id: string; name: string; plan: string | null }): NewEvent {
  return { type: "organization.plan_changed", organization_id: id, data: { name, plan } };
}
