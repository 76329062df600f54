import { describe, expect, test } from "bun:test";
import type { EntryRow } from "@ostiary/audit/streams/batch";
import { OCSF_VERSION, ocsfEvent } from "@ostiary/audit/streams/ocsf";
import { ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { Ajv2020 } from "ajv/dist/2020.js";
import schema from "./api-activity-1.8.0.json";

/** The JSON Schema of the OCSF class API Activity. The PyPI package ocsf-json-schema 1.2.0 generated it. */
const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema);

type Event = NonNullable<EntryRow["event"]>;

const WHOLE: Event = {
  id: ULID_EXAMPLE,
  occurred_at: "2026-01-31 12:00:00+00",
  request_id: "request-1",
  organization_id: "organization-1",
  user_id: "user-1",
  actor_member_id: "member-1",
  actor_auth_type: "member_apikey",
  actor_key_prefix: "ostiary-k-2-abcd",
  service: "widgets",
  method: "PATCH",
  route: "/org/widgets/{widget_id}",
  params: { widget_id: "42" },
  ip: "192.0.2.1",
  user_agent: "curl/8.5.0",
  outcome: "responded",
  status: 204,
  details: { name: { from: null, to: ["é", 1.5] } },
  created_id: "created-1",
  named_by_outcome: null,
  intent_member_id: null,
};
const PENDING = { outcome: "pending", status: null, details: null, created_id: null } as const;

function eventOf(changes: Partial<Event>): unknown {
  const event = { ...WHOLE, ...changes };
  const row: EntryRow = {
    position: 7,
    chain: "ab".repeat(32),
    is_outcome: event.outcome !== "pending",
    salt: "cd".repeat(16),
    occurred_at: "2026-01-31T12:00:00.000Z",
    retention: null,
    statement: null,
    event,
  };
  return ocsfEvent({ organization_id: "organization-1" }, row);
}

// AU-106
describe("in the format ocsf, an event", () => {
  test.each<[string, Partial<Event>]>([
    ["of a member", {}],
    ["of a session", { actor_auth_type: "member_session", actor_key_prefix: null }],
    ["without a member", { actor_member_id: null, actor_key_prefix: null }],
    ["that is pending", PENDING],
    [
      "without params, agent, details and created id",
      { params: {}, user_agent: null, details: null, created_id: null },
    ],
    ["that failed", { status: 503, outcome: "no_response" }],
    ["of an IPv6 address", { ip: "2001:db8::1" }],
    ...["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"].map(
      (method): [string, Partial<Event>] => [`of ${method}`, { method }],
    ),
  ])("%s is valid under the published schema", (_, changes) => {
    validate(eventOf(changes));
    expect(validate.errors ?? []).toEqual([]);
  });

  test("names the version of the published schema", () => {
    expect(schema.$id).toBe(`https://schema.ocsf.io/schema/${OCSF_VERSION}/classes/api_activity`);
  });

  test("with unknown or missing fields is invalid under the published schema", () => {
    const event = eventOf({});
    expect(validate({ ...Object(event), surprise: true })).toBe(false);
    expect(validate({ ...Object(event), actor: undefined, class_uid: 1 })).toBe(false);
  });
});
