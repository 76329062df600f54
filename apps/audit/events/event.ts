import { type UserEvent, userEventSchema } from "@ostiary/lib/contracts/audit";
import type { Cell, ExportForm } from "../exports/formats.ts";

export type EventRow = Omit<UserEvent, "actor"> & {
  actor_member_id: UserEvent["actor"]["member_id"];
  actor_auth_type: UserEvent["actor"]["auth_type"];
  actor_key_prefix: UserEvent["actor"]["key_prefix"];
};

/**
 * Returns the event of a row. Copies each field by name, because a rest property takes ten times as long and
 * sealing reads every event twice.
 */
export function eventOf(row: EventRow): UserEvent {
  return {
    id: row.id,
    occurred_at: new Date(row.occurred_at).toISOString(),
    request_id: row.request_id,
    organization_id: row.organization_id,
    user_id: row.user_id,
    actor: {
      member_id: row.actor_member_id,
      auth_type: row.actor_auth_type,
      key_prefix: row.actor_key_prefix,
    },
    service: row.service,
    method: row.method,
    route: row.route,
    params: row.params,
    ip: row.ip,
    user_agent: row.user_agent,
    outcome: row.outcome,
    status: row.status,
    details: row.details,
    created_id: row.created_id,
  };
}

/** The log of an organization or a person; `id` is the id of that owner. */
export interface EventLog {
  kind: "organization" | "user";
  id: string;
}

/** Returns an event as the readers of a log see it. */
export function shownIn({ kind }: EventLog, event: UserEvent): UserEvent | Omit<UserEvent, "user_id"> {
  return kind === "user" ? event : withoutPerson(event);
}

/** Returns an event without `user_id`, as an organization's log shows it. */
export function withoutPerson({ user_id: _, ...event }: UserEvent): Omit<UserEvent, "user_id"> {
  return event;
}

/**
 * Returns the event as it was before its outcome. `named` says whether the outcome named the organization. The event
 * then had no organization before, and its member was `member_id`.
 */
export function withoutOutcome(row: EventRow, named: boolean, member_id: string | null): EventRow {
  const pending = { ...row, outcome: "pending" as const, status: null, details: null, created_id: null };
  return named ? { ...pending, organization_id: null, actor_member_id: member_id } : pending;
}

/** The file name of an exported log, without its extension. */
export const EXPORT_NAME = "audit-events";

const isField = (name: string): name is keyof UserEvent => name in userEventSchema.properties;
const FIELDS = Object.keys(userEventSchema.properties).filter(isField);
const ACTOR_FIELDS = ["member_id", "auth_type", "key_prefix"] as const;

/** Returns the export form of the events of a log (AU-43, AU-44). The fields of `actor` have columns of their own. */
export function eventForm(log: EventLog): ExportForm<UserEvent> {
  const fields = FIELDS.filter((name) => log.kind === "user" || name !== "user_id");
  return {
    name: EXPORT_NAME,
    columns: fields.flatMap((name) =>
      name === "actor" ? ACTOR_FIELDS.map((part) => `actor_${part}`) : [name],
    ),
    cells: ({ actor, ...event }) =>
      fields.flatMap((name) =>
        name === "actor" ? ACTOR_FIELDS.map((part) => actor[part]) : [cellOf(event[name])],
      ),
    shown: (event) => shownIn(log, event),
  };
}

function cellOf(value: Cell | object): Cell {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}
