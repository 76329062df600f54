import { beforeAll, describe, expect, test } from "bun:test";
import { NOBODY, useIdentity } from "../../../app/identity/bed.ts";
import { bodyFor, newTenant, operationsOf, pathIn } from "../../../app/identity/tenants.ts";
import { type OpenApiDocument, operationsIn } from "../../../support/http/openapi.ts";
import { BROKEN_QUERY, exampleOf, ResponseCheck } from "./response-check.ts";

// ER-21
describe("identity", () => {
  const identity = useIdentity();
  let check: ResponseCheck;
  beforeAll(async () => {
    check = new ResponseCheck((await identity.call("GET", "/swagger/json")).body);
  });

  async function call(method: string, path: string, body?: unknown) {
    return check.expectDescribed(method, path, await identity.call(method, path, body));
  }

  /** Calls each operation twice for a new tenant. The first call must succeed. */
  async function successes(): Promise<void> {
    const theirs = await newTenant(identity, "Theirs");
    for (const operation of await operationsOf(identity)) {
      const { id, method } = operation;
      const path = pathIn(await newTenant(identity, "Ours"), operation);
      const body = bodyFor(theirs, operation);
      const { status } = await call(method, path, body);
      expect([id, status < 300]).toEqual([id, true]);
      await call(method, path, body);
    }
  }

  async function keysAndMembers(): Promise<void> {
    const { user_id, organization_id, member_id, token } = await newTenant(identity, "Ours");
    const keys = `/users/${user_id}/api-keys`;
    // This operation's body is optional, so send none.
    const { body } = await call("POST", keys);
    await call("POST", keys, { name: "Deploy 🚪" });
    await call("POST", keys, { expires_in_seconds: 1 });
    await call("POST", `${keys}/${body.id}/rotate`);
    await call("POST", `${keys}/${body.id}/rotate`, { overlap_seconds: -1 });
    await call("GET", `${keys}?unused_for_seconds=60&expires_within_seconds=86400`);
    await call("GET", `${keys}?unused_for_seconds=never`);
    await call("GET", `${keys}?limit=1&starting_after=${body.id}`);
    // The person is already a member, so redeeming the invite returns the existing membership with 200.
    expect((await call("POST", `/users/${user_id}/invites/redeem`, { token })).status).toBe(200);
    const member = `/organizations/${organization_id}/members/${member_id}`;
    await call("PATCH", member, { role: "admin", display_name: null });
    await call("DELETE", member);
    // A removed member can still be read.
    expect((await call("GET", member)).body.status).toBe("removed");
  }

  async function conflicts(): Promise<void> {
    const { id, owner, ownerMember } = await identity.organization();
    expect((await call("DELETE", `/users/${owner}`)).status).toBe(409);
    expect((await call("DELETE", `/members/${ownerMember}`)).status).toBe(422);
    const { body: once } = await call("POST", `/organizations/${id}/invites`);
    await call("DELETE", `/organizations/${id}/invites/${once.id}`);
    const guest = await identity.person("guest");
    expect((await call("POST", `/users/${guest}/invites/redeem`, { token: once.token })).status).toBe(409);
    const organizations = `/users/${owner}/organizations`;
    for (let n = 1; n < 50; n++) await identity.call("POST", organizations, { name: `n${n}` });
    expect((await call("POST", organizations, { name: "One more" })).status).toBe(409);
  }

  async function refusals(document: OpenApiDocument): Promise<void> {
    for (const { method, path: template, requestBody } of operationsIn(document)) {
      const path = template.replace(/\{\w+\}/g, NOBODY);
      expect((await call(method, `${path}${BROKEN_QUERY}`)).status).toBe(422);
      if (method === "GET" || method === "DELETE") await call(method, path);
      else {
        expect((await call(method, path, "{")).status).toBe(400);
        expect((await call(method, path, JSON.stringify("x".repeat(70_000)))).status).toBe(413);
        await call(method, path, { unknown: true });
        await call(method, path, exampleOf(document, requestBody));
      }
    }
  }

  test("every response matches the description, and every described success, 404 and conflict occurs", async () => {
    await successes();
    await keysAndMembers();
    await conflicts();
    await refusals((await identity.call("GET", "/swagger/json")).body);
    expect(check.unseen()).toEqual([]);
  });

  // ID-1, ID-3
  test("a create gets 201, a delete 204 and every other success 200, and no path has a version prefix", async () => {
    const { body: document } = await identity.call("GET", "/swagger/json");
    for (const { operationId, method, path, responses } of operationsIn(document)) {
      const statuses = Object.keys(responses).filter((status) => Number(status) < 300);
      const creates = method === "POST" && operationId !== "previewInvite";
      const own = creates ? ["201"] : method === "DELETE" ? ["204"] : ["200"];
      // A person who is already a member gets 200 for redeeming an invite.
      expect([operationId, statuses]).toEqual([
        operationId,
        operationId === "redeemInvite" ? ["200", "201"] : own,
      ]);
      expect(path).toMatch(/^\/(users|organizations|members)(\/|$)/);
    }
  });
});
