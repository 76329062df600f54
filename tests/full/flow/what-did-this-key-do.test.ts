/**
 * A leaked API key is found. This test proves that the key's prefix and the audit log show who created the
 * key, what it did, and what happened to it afterwards.
 */

import { expect, test } from "bun:test";
import { isRecord } from "@ostiary/lib/domain/json";
import type { AuditEvent } from "../../app/audit/audit-service.ts";
import { startPlatformHere } from "../../app/platform/bed.ts";
import { duringTests } from "../../support/during-tests.ts";
import { admitted } from "../../support/gateway/admitted.ts";
import { waitFor } from "../../support/index.ts";
import { freshDatabase } from "../../support/stores/services.ts";

const platform = duringTests(
  async () => startPlatformHere({ DATABASE_URL: await freshDatabase(), RATE_LIMIT_REQUESTS: "0" }),
  120_000,
);

async function call(method: string, path: string, caller: Record<string, string>, body?: object) {
  const response = await admitted(() =>
    fetch(`${platform.addresses.gatewayUrl}${path}`, {
      method,
      headers: caller,
      body: body && JSON.stringify(body),
    }),
  );
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

test("the audit log shows the creation, use, rotation and revocation of a key by its prefix", async () => {
  const token = await (await fetch(`${platform.tour?.identityProviderUrl}/token?subject=ada`)).text();
  const ada = { Authorization: `Bearer ${token}` };
  const organization = (await call("POST", "/user/organizations", ada, { name: "Acme" })).body;
  const session = (await call("POST", `/user/organizations/${organization.id}/session`, ada)).body;
  const owner = { "X-API-Key": session.token };
  const robot = (await call("POST", "/org/service-accounts", owner, { name: "Robot", role: "admin" })).body;
  const keys = `/org/service-accounts/${robot.id}/api-keys`;
  const first = (await call("POST", keys, owner, { name: "Nightly", expires_in_seconds: 3600 })).body;
  const other = (await call("POST", keys, owner, { name: "Other" })).body;

  const by = ({ key }: { key: string }) => ({ "X-API-Key": key });
  await call("PATCH", "/org", by(first), { name: "Acme by night" });
  await call("PATCH", "/org", by(other), { name: "Acme by day" });
  expect((await call("DELETE", "/org", by(first))).status).toBe(403);
  const next = (await call("POST", `${keys}/${first.id}/rotate`, owner, { overlap_seconds: 600 })).body;
  await call("POST", "/org/invites", by(first), { email: "mallory@example.com" });
  await call("PATCH", "/org", by(next), { name: "Acme" });
  expect((await call("DELETE", `${keys}/${first.id}`, owner)).status).toBe(204);

  const read = async (filter: string): Promise<AuditEvent[]> => {
    const { status, body } = await call("GET", `/org/audit-events?limit=100${filter}`, owner);
    expect(status).toBe(200);
    return body.audit_events.toReversed();
  };
  const done = ({ method, route, outcome, status }: AuditEvent) => `${method} ${route} ${outcome} ${status}`;
  await waitFor(async () => (await read("")).every(({ outcome }) => outcome !== "pending"));

  // The key's prefix separates its calls from those of the same member's other keys.
  const robots = await read(`&actor_member_id=${robot.member_id}`);
  const doneBy = (key: { key_prefix: string }) =>
    robots.filter(({ actor }) => isRecord(actor) && actor.key_prefix === key.key_prefix).map(done);
  expect(doneBy(first)).toEqual([
    "PATCH /org responded 200",
    "DELETE /org rejected 403",
    "POST /org/invites responded 201",
  ]);
  expect(doneBy(other)).toEqual(["PATCH /org responded 200"]);
  expect(doneBy(next)).toEqual(["PATCH /org responded 200"]);
  expect(robots).toHaveLength(5);

  // The audit log names the creator of the key, its rotation and its revocation.
  const [made] = await read(`&created_id=${first.id}`);
  expect(made).toMatchObject({
    route: "/org/service-accounts/{service_account_id}/api-keys",
    actor: { member_id: session.member_id, auth_type: "member_session" },
    details: { key_id: first.id, key_prefix: first.key_prefix, name: "Nightly" },
  });
  const life = await read(`&params[key_id]=${first.id}`);
  expect(life.map(done)).toEqual([
    "POST /org/service-accounts/{service_account_id}/api-keys/{key_id}/rotate responded 201",
    "DELETE /org/service-accounts/{service_account_id}/api-keys/{key_id} responded 204",
  ]);
  expect(life[0]).toMatchObject({
    actor: { member_id: session.member_id },
    created_id: next.id,
    details: { key_id: next.id, key_prefix: next.key_prefix, name: "Nightly" },
  });
  expect(JSON.stringify([made, life, robots])).not.toContain(first.key);
}, 60_000);
