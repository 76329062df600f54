import { type Static, Type } from "@sinclair/typebox";
import { incrementBase32, ulid } from "ulid";
import { idField, nullable, shownRole, timeField } from "../fields.ts";
import type { Roles } from "../roles/roles.ts";

const MemberData = Type.Object(
  {
    member_id: idField("The member."),
    principal: Type.Union([Type.Literal("user"), Type.Literal("service_account")], {
      description: "Whether the member is a person.",
    }),
    user_id: nullable(idField("The person; null for a service account.")),
    service_account_id: nullable(idField("The service account; null for a person.")),
    role: shownRole,
  },
  { title: "Member event data", description: "The member of an event of memberships." },
);

const OrganizationData = Type.Object(
  { name: Type.String({ description: "The organization's name.", examples: ["Analytical Engines"] }) },
  { title: "Organization event data", description: "The organization of an event of organizations." },
);

/** What happened to a membership or an organization (Identity specification, Lifecycle events; contract 5). */
export const LifecycleEvent = Type.Object(
  {
    id: idField("Place in the feed; a later event has a larger id."),
    type: Type.Union(
      [
        Type.Literal("organization.created"),
        Type.Literal("member.created"),
        Type.Literal("member.removed"),
        Type.Literal("organization.deleted"),
      ],
      { description: "What happened." },
    ),
    occurred_at: timeField("When the change was made."),
    organization_id: idField("The organization."),
    data: Type.Union([MemberData, OrganizationData], {
      title: "Lifecycle event data",
      description: "To whom: a member for events of memberships, else the organization.",
    }),
  },
  { title: "Lifecycle event", description: "What happened to a membership or an organization." },
);
export type LifecycleEvent = Static<typeof LifecycleEvent>;

/** An event that has no place in the feed yet. */
export type NewEvent = Pick<LifecycleEvent, "type" | "organization_id" | "data">;

/** A membership as its events tell it. */
export interface EventMember {
  id: string;
  organization_id: string;
  principal: "user" | "service_account";
  user_id: string | null;
  service_account_id: string | null;
  role: string | null;
}

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

/**
 * `count` ascending ids above `last`, the newest in the feed. They carry `time_ms`, unless the clock that gave
 * `last` was ahead of it: order counts for more than the time in an id.
 */
export function followingIds(last: string | null, time_ms: number, count: number): string[] {
  const fresh = ulid(time_ms);
  let next = last === null || fresh > last ? fresh : incrementBase32(last);
  return Array.from({ length: count }, () => {
    const id = next;
    next = incrementBase32(next);
    return id;
  });
}
