import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freshDatabase, makeHostile, services, waitFor } from "../support/index.ts";
import { type AuditService, intent, json, requestId, startAudit } from "./audit/audit-service.ts";
import { type IdentityHarness, startIdentity, TIME } from "./identity/bed.ts";
import { projected, type Registry, service, startRegistry } from "./registry/bed.ts";

// OP-17
describe.skipIf(!services().postgres.real)("on a database with unusual settings", () => {
  let identity: IdentityHarness;
  let audit: AuditService;
  let registry: Registry;

  beforeAll(async () => {
    const databaseUrl = await makeHostile(await freshDatabase());
    identity = await startIdentity({ databaseUrl });
    audit = await startAudit({ databaseUrl });
    registry = await startRegistry({ databaseUrl });
  });
  afterAll(async () => {
    await Promise.all([identity?.close(), audit?.stop(), registry?.stop()]);
  });

  test("identity writes, reads and validates, and returns every time unchanged", async () => {
    const { id, owner } = await identity.organization("Ünïted 文");
    const read = await identity.call("GET", `/organizations/${id}`);
    expect(read).toMatchObject({
      status: 200,
      body: { name: "Ünïted 文", created_at: identity.clock.date().toISOString() },
    });
    const session = (await identity.call("POST", `/users/${owner}/organizations/${id}/session`)).body;
    expect(await identity.validate(session.token)).toMatchObject({
      valid: true,
      expires_at: session.expires_at,
    });
    const { key } = (await identity.call("POST", `/users/${owner}/api-keys`)).body;
    expect(await identity.validate(key)).toMatchObject({ valid: true, user_id: owner });
    await identity.call("POST", `/organizations/${id}/invites`, { email: "a\\b@example.com" });
    const { invites } = (await identity.call("GET", `/organizations/${id}/invites`)).body;
    expect(invites).toMatchObject([{ email: "a\\b@example.com", expires_at: expect.stringMatching(TIME) }]);
    const events = (await identity.events()).filter(({ organization_id }) => organization_id === id);
    expect(events).toHaveLength(2);
  });

  test("audit returns an event unchanged, and finds it by its time", async () => {
    const request_id = requestId();
    const occurred_at = new Date(Date.now() - 3_600_000).toISOString();
    expect((await audit.put(request_id, intent({ occurred_at, user_agent: "a\\b ü" }))).status).toBe(201);
    const outcome = { outcome: "responded", status: 200, details: { was: "\\x41 ü" } };
    expect((await audit.patch(request_id, outcome)).status).toBe(204);
    const around = `occurred_after=${occurred_at}&occurred_before=${new Date().toISOString()}`;
    const { audit_events } = await audit.list(`/organizations/organization-1/audit-events?${around}`);
    expect(audit_events).toMatchObject([{ request_id, occurred_at, user_agent: "a\\b ü", ...outcome }]);
    const exported = await audit.get("/organizations/organization-1/audit-events", {
      Accept: "application/x-ndjson",
    });
    expect(await json(exported)).toMatchObject({ request_id, occurred_at });
  });

  test("the registry applies a service, lists its revisions and projects it", async () => {
    expect((await registry.apply({ a: service("/a") })).status).toBe(200);
    const { revisions } = (await registry.call("GET", "/services/a/revisions")).body;
    expect(revisions).toHaveLength(1);
    const [{ created_at }] = revisions;
    expect(created_at).toMatch(TIME);
    expect(Math.abs(Date.now() - Date.parse(created_at))).toBeLessThan(600_000);
    await waitFor(async () => "a" in (await projected(registry.routeStore)));
  });
});
