import { ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import type { EntryRow } from "../../../apps/audit/streams/entry.ts";

export type EventOfRow = NonNullable<EntryRow["event"]>;

/** Returns the outcome of a DELETE by a member, as a stream reads it. */
export function entryRow(changes: Partial<EventOfRow> = {}, entry: Partial<EntryRow> = {}): EntryRow {
  return {
    position: 7,
    chain: "ab".repeat(32),
    is_outcome: true,
    salt: "cd".repeat(16),
    occurred_at: "2026-01-31T12:00:00.000Z",
    declaration: null,
    event: {
      id: ULID_EXAMPLE,
      occurred_at: "2026-01-31 12:00:00+00",
      request_id: "request-1",
      organization_id: "organization-1",
      user_id: "user-1",
      actor_member_id: "member-1",
      actor_auth_type: "member_apikey",
      actor_key_prefix: "ostiary-k-2-abcd",
      service: "widgets",
      method: "DELETE",
      route: "/org/widgets/{widget_id}",
      params: { widget_id: "42" },
      ip: "192.0.2.1",
      user_agent: "curl/8.5.0",
      outcome: "responded",
      status: 204,
      details: { a: 1 },
      created_id: null,
      named_by_outcome: null,
      intent_member_id: null,
      ...changes,
    },
    ...entry,
  };
}
