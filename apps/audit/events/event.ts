import type { UserEvent } from "@ostiary/lib/contracts/audit";

/** A row as the database gives it. */
export type EventRow = Omit<UserEvent, "actor"> & {
  actor_member_id: UserEvent["actor"]["member_id"];
  actor_auth_type: UserEvent["actor"]["auth_type"];
  actor_key_prefix: UserEvent["actor"]["key_prefix"];
};

export function eventOf(row: EventRow): UserEvent {
  const { id, occurred_at, request_id, organization_id, user_id, ...rest } = row;
  const { actor_member_id, actor_auth_type, actor_key_prefix, ...request } = rest;
  return {
    id,
    occurred_at: new Date(occurred_at).toISOString(),
    request_id,
    organization_id,
    user_id,
    actor: { member_id: actor_member_id, auth_type: actor_auth_type, key_prefix: actor_key_prefix },
    ...request,
  };
}

/** Whose log is read. */
export interface EventLog {
  kind: "organization" | "user";
  id: string;
}

/** An event as its organization sees it. */
export function withoutPerson({ user_id: _, ...event }: UserEvent): Omit<UserEvent, "user_id"> {
  return event;
}
