import { describe, expect, test } from "bun:test";
import { useIdentity } from "./bed.ts";
import { ROLES, TIME, ULID, wrongFields } from "./harness.ts";

const identity = useIdentity();

describe("POST /users/{user_id}/organizations", () => {
  // ID-24, ID-99, ID-100
  test("returns 201 with an audit note, and the creator is an active member with creator_role", async () => {
    const user = await identity.person();
    const created = await identity.call("POST", `/users/${user}/organizations`, { name: " Acme " });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(ULID),
      name: "Acme",
      plan: null,
      created_at: expect.stringMatching(TIME),
      updated_at: created.body.created_at,
    });
    const { id } = created.body;
    expect(created.note).toEqual({
      details: null,
      created: id,
      organization_id: id,
      member_id: expect.stringMatching(ULID),
    });
    const { body } = await identity.call("GET", `/organizations/${id}/members`);
    expect(body.members).toHaveLength(1);
    expect(body.members[0]).toMatchObject({ id: created.note.member_id, role: "owner", status: "active" });
  });
});

describe("GET /organizations", () => {
  // ID-25
  test("lists all organizations, ordered by id", async () => {
    const { id } = await identity.organization("Listed");
    const { body } = await identity.call("GET", "/organizations?limit=100");
    const ids = body.organizations.map((each: { id: string }) => each.id);
    expect(ids).toEqual(ids.toSorted());
    expect(ids).toContain(id);
  });
});

describe("GET and PATCH /organizations/{organization_id}", () => {
  // ID-23, ID-25
  test("return the organization, change its name with audit details, and return 404 for an unknown one", async () => {
    const { id } = await identity.organization("Old");
    expect((await identity.call("GET", `/organizations/${id}`)).body).toMatchObject({ id, name: "Old" });
    const renamed = await identity.call("PATCH", `/organizations/${id}`, { name: "Neu 🚪" });
    expect(renamed.status).toBe(200);
    expect(renamed.body.name).toBe("Neu 🚪");
    expect(renamed.note.details).toEqual({ name: { from: "Old", to: "Neu 🚪" } });
    expect(
      (await identity.call("PATCH", `/organizations/${id}`, { name: "Neu 🚪" })).note.details,
    ).toBeNull();
  });

  // ID-23
  test("allow several organizations with the same name", async () => {
    await identity.organization("Twin");
    const second = await identity.organization("Twin");
    expect((await identity.call("GET", `/organizations/${second.id}`)).body.name).toBe("Twin");
  });
});

describe("DELETE /organizations/{organization_id}", () => {
  // ID-26
  test("returns 204, deletes everything in it but no people, and returns 404 the second time", async () => {
    const { id, owner, ownerMember } = await identity.organization();
    const account = await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" });
    const invite = await identity.call("POST", `/organizations/${id}/invites`);
    const key = await identity.call("POST", `/members/${account.body.member_id}/api-keys`);
    const session = await identity.call("POST", `/users/${owner}/organizations/${id}/session`);
    const deleted = await identity.call("DELETE", `/organizations/${id}`);
    expect(deleted.status).toBe(204);
    expect(deleted.note.details).toBeNull();
    for (const path of [
      `/organizations/${id}`,
      `/organizations/${id}/members`,
      `/organizations/${id}/members/${ownerMember}`,
      `/organizations/${id}/roles`,
      `/organizations/${id}/invites`,
      `/organizations/${id}/service-accounts`,
      `/members/${ownerMember}`,
      `/members/${ownerMember}/user`,
    ]) {
      expect((await identity.call("GET", path)).status).toBe(404);
    }
    expect(await identity.validate(key.body.key)).toEqual({ valid: false });
    expect(await identity.validate(session.body.token)).toEqual({ valid: false });
    const redeemed = await identity.call("POST", `/users/${owner}/invites/redeem`, {
      token: invite.body.token,
    });
    expect(redeemed.status).toBe(404);
    expect((await identity.call("GET", `/users/${owner}`)).status).toBe(200);
    expect((await identity.call("DELETE", `/organizations/${id}`)).status).toBe(404);
  });
});

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
    const told = (await off.events()).filter(({ organization_id }) => organization_id === id);
    expect(told.filter(({ data }) => "role" in data).map(({ data }) => data.role)).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  // ID-49
  test("an earlier invite gives the role that it was created with, once roles are on again", async () => {
    const { id } = await identity.organization();
    const { token } = (await identity.call("POST", `/organizations/${id}/invites`, { role: "admin" })).body;
    const off = await identity.restarted(null);
    const user = await off.person();
    const joined = await off.call("POST", `/users/${user}/invites/redeem`, { token });
    expect(joined.body.role).toBeNull();
    expect((await off.events()).at(-1)?.data.role).toBeNull();
    expect((await identity.call("GET", `/members/${joined.body.id}`)).body.role).toBe("admin");
    const without = (await off.call("POST", `/organizations/${id}/invites`)).body;
    const later = await identity.call("POST", `/users/${await identity.person()}/invites/redeem`, {
      token: without.token,
    });
    expect(later.body.role).toBe("member");
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
});
