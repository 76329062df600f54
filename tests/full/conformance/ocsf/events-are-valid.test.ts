import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { OCSF_VERSION, ocsfEvent } from "../../../../apps/audit/streams/ocsf.ts";
import { type EventOfRow, entryRow } from "../../../unit/audit/entry-row.ts";

/** The JSON Schema of the OCSF class API Activity. The PyPI package ocsf-json-schema 1.2.0 generated it. */
const file = await Bun.file(join(import.meta.dir, "api-activity-1.8.0.json.gz")).bytes();
const schema = JSON.parse(new TextDecoder().decode(Bun.gunzipSync(file)));
const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema);

const PENDING = { outcome: "pending", status: null, details: null, created_id: null } as const;

function eventOf(changes: Partial<EventOfRow>): unknown {
  const whole = {
    method: "PATCH",
    details: { name: { from: null, to: ["é", 1.5] } },
    created_id: "created-1",
  };
  const row = entryRow({ ...whole, ...changes }, { is_outcome: changes.outcome !== "pending" });
  return ocsfEvent({ organization_id: "organization-1" }, row);
}

// AU-106
describe("in the format ocsf, an event", () => {
  test.each<[string, Partial<EventOfRow>]>([
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
      (method): [string, Partial<EventOfRow>] => [`of ${method}`, { method }],
    ),
  ])("%s is valid under the published schema", (_, changes) => {
    validate(eventOf(changes));
    expect(validate.errors ?? []).toEqual([]);
  });

  test("names the version of the published schema", () => {
    expect(schema.$id).toBe(`https://schema.ocsf.io/schema/${OCSF_VERSION}/classes/api_activity`);
  });
});
