/** Tests what the roles file decides: roles on and off, and roles that left the file. */
import { describe, expect, test } from "bun:test";
import { ROLES, useIdentity, wrongFields } from "./bed.ts";

const identity = useIdentity();

describe("GET /organizations/{organization_id}/roles", () => {
  // ID-75
  test("returns all roles of the file on one page, sorted by slug, with the default roles", async () => {
    const { id } = await identity.organization();
    const path = `/organizations/${id}/roles`;
    expect((await identity.call("GET", path)).body).toEqual({
      roles: [
        { slug: "admin", labels: ["org:write", "org:members:write"] },
        { slug: "member", labels: ["things:write"] },
        { slug: "owner", labels: ["*"] },
        { slug: "viewer", labels: [] },
      ],
      creator_role: "owner",
      default_role: "member",
      service_account_default_role: "viewer",
    });
    const unset = await identity.restarted(ROLES.replace(/service_account_default_role.*/, ""));
    expect((await unset.call("GET", path)).body.service_account_default_role).toBe("member");
  });
});

describe("with roles off", () => {
  // ID-72
  test("every role is null, every member may do everything, and a role in a body is 422", async () => {
    const before = await identity.organization();
    const key = (await identity.call("POST", `/members/${before.ownerMember}/api-keys`)).body.key;
    const off = await identity.restarted(null);
    const { id, owner, ownerMember } = await off.organization();
    expect((await off.call("GET", `/organizations/${id}/roles`)).body).toEqual({
      roles: [],
      creator_role: null,
      default_role: null,
      service_account_default_role: null,
    });
    for (const member of [ownerMember, before.ownerMember]) {
      expect((await off.call("GET", `/members/${member}`)).body.role).toBeNull();
    }
    expect(await off.validate(key)).toMatchObject({ valid: true, labels: ["*"] });
    const session = await off.call("POST", `/users/${owner}/organizations/${id}/session`);
    expect(session.body).toMatchObject({ role: null, labels: ["*"] });
    const idp = { issuer: "https://login.example.com", subject: crypto.randomUUID() };
    for (const [path, body] of [
      [`/organizations/${id}/members`, { idp, role: "member" }],
      [`/organizations/${id}/invites`, { role: "member" }],
      [`/organizations/${id}/service-accounts`, { name: "Bot", role: "member" }],
    ] as const) {
      expect(wrongFields(await off.call("POST", path, body))).toEqual(["role"]);
    }
    const changed = await off.call("PATCH", `/organizations/${id}/members/${ownerMember}`, {
      role: "member",
    });
    expect(wrongFields(changed)).toEqual(["role"]);
    const added = await off.call("POST", `/organizations/${id}/members`, { idp });
    expect(added.body.role).toBeNull();
    expect(added.note.details).toEqual({ member_id: added.body.id, role: null });
    const invite = await off.call("POST", `/organizations/${id}/invites`);
    expect(invite.body.role).toBeNull();
    const account = await off.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" });
    expect(account.body.role).toBeNull();
    expect((await off.call("DELETE", `/members/${ownerMember}`)).status).toBe(204);
    const events = (await off.events()).filter(({ organization_id }) => organization_id === id);
    expect(events.filter(({ data }) => "role" in data).map(({ data }) => data.role)).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  // ID-74
  test("a role that is no longer in the file grants nothing, but is still shown", async () => {
    const { id } = await identity.organization();
    const { id: member } = await identity.member(id, "admin");
    const key = (await identity.call("POST", `/members/${member}/api-keys`)).body.key;
    const smaller = await identity.restarted(ROLES.replace(/ {2}admin.*\n/, ""));
    expect(await smaller.validate(key)).toMatchObject({ valid: true, labels: [] });
    expect((await smaller.call("GET", `/members/${member}`)).body.role).toBe("admin");
    const assigned = await smaller.call("PATCH", `/organizations/${id}/members/${member}`, { role: "admin" });
    expect(wrongFields(assigned)).toEqual(["role"]);
  });

  // ID-74
  test("a member who was added with roles off has no labels once roles are on", async () => {
    const off = await identity.restarted(null);
    const { ownerMember } = await off.organization();
    const key = (await off.call("POST", `/members/${ownerMember}/api-keys`)).body.key;
    expect(await identity.validate(key)).toMatchObject({ valid: true, labels: [] });
    const stored = await identity.sql`select role from identity.members where id = ${ownerMember}`;
    expect(stored).toEqual([{ role: null }]);
  });

  // ID-49
  test("an invite copies a role that is no longer in the roles file, which grants nothing", async () => {
    const { id } = await identity.organization();
    const invite = await identity.call("POST", `/organizations/${id}/invites`, { role: "admin" });
    const smaller = await identity.restarted(ROLES.replace(/ {2}admin.*\n/, ""));
    const user = await smaller.person();
    const redeemed = await smaller.call("POST", `/users/${user}/invites/redeem`, {
      token: invite.body.token,
    });
    expect(redeemed.body.role).toBe("admin");
    const session = await smaller.call("POST", `/users/${user}/organizations/${id}/session`);
    expect(session.body).toMatchObject({ role: "admin", labels: [] });
  });
});
