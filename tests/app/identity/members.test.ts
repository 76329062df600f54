import { describe, expect, test } from "bun:test";
import { useIdentity } from "./bed.ts";
import { ISSUER, NOBODY, TIME, ULID, wrongFields } from "./harness.ts";

const identity = useIdentity();

const newIdp = () => ({ issuer: ISSUER, subject: crypto.randomUUID() });

describe("POST /organizations/{organization_id}/members", () => {
  // ID-27, ID-30, ID-73, ID-111
  test("returns 201 with an active member, who has default_role or the requested role, for known and new people", async () => {
    const { id } = await identity.organization();
    const path = `/organizations/${id}/members`;
    const added = await identity.call("POST", path, { idp: newIdp() });
    expect(added.status).toBe(201);
    expect(added.body).toEqual({
      id: expect.stringMatching(ULID),
      organization_id: id,
      principal: "user",
      service_account_id: null,
      display_name: null,
      role: "member",
      status: "active",
      created_at: expect.stringMatching(TIME),
      updated_at: added.body.created_at,
    });
    expect(added.note).toEqual({
      details: { member_id: added.body.id, role: "member" },
      created: added.body.id,
      organization_id: null,
      member_id: null,
    });
    const named = await identity.call("POST", path, { idp: newIdp(), role: "admin" });
    expect(named.body.role).toBe("admin");
  });

  // ID-31
  test("returns 409 for an active or suspended member, and 201 with a new id for a removed one", async () => {
    const { id } = await identity.organization();
    const path = `/organizations/${id}/members`;
    const idp = newIdp();
    const first = await identity.call("POST", path, { idp });
    for (const status of ["active", "suspended"]) {
      await identity.call("PATCH", `/members/${first.body.id}`, { status });
      const refused = await identity.call("POST", path, { idp });
      expect(refused.status).toBe(409);
      expect(refused.body.error).toMatchObject({ code: "CONFLICT", details: { field: "idp" } });
    }
    await identity.call("DELETE", `/members/${first.body.id}`);
    const again = await identity.call("POST", path, { idp });
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(first.body.id);
  });

  test("returns 422 for an unknown role and for a malformed subject", async () => {
    const { id } = await identity.organization();
    const path = `/organizations/${id}/members`;
    const refusals: [unknown, string[]][] = [
      [{ idp: newIdp(), role: "emperor" }, ["role"]],
      [{ idp: newIdp(), role: null }, ["role"]],
      [{}, ["idp"]],
      [{ idp: ISSUER }, ["idp"]],
      [{ idp: { issuer: ISSUER } }, ["idp.subject"]],
      [{ idp: { ...newIdp(), user_id: NOBODY } }, ["idp.user_id"]],
      [{ idp: { issuer: "", subject: "" } }, ["idp.issuer", "idp.subject"]],
      [{ idp: { issuer: ISSUER, subject: "a\u0000" } }, ["idp.subject"]],
      [{ idp: { issuer: "\ud800", subject: "x".repeat(256) } }, ["idp.issuer", "idp.subject"]],
    ];
    for (const [body, fields] of refusals) {
      expect(wrongFields(await identity.call("POST", path, body))).toEqual(fields);
    }
  });
});

describe("display_name", () => {
  // ID-28
  test("is the override, or the person's own, or null", async () => {
    const { id } = await identity.organization();
    const { id: member, user_id } = await identity.member(id);
    const shown = async () => (await identity.call("GET", `/members/${member}`)).body.display_name;
    expect(await shown()).toBeNull();
    await identity.call("PATCH", `/users/${user_id}`, { display_name: "Global" });
    expect(await shown()).toBe("Global");
    const named = await identity.call("PATCH", `/members/${member}`, { display_name: "Local" });
    expect(named.note.details).toEqual({ display_name: { from: null, to: "Local" } });
    expect(await shown()).toBe("Local");
    const cleared = await identity.call("PATCH", `/members/${member}`, { display_name: null });
    expect(cleared.note.details).toEqual({ display_name: { from: "Local", to: null } });
    expect(await shown()).toBe("Global");
  });

  // ID-28
  test("of a service account is its name, which PATCH of the member cannot change", async () => {
    const { id } = await identity.organization();
    const account = await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" });
    const member = account.body.member_id;
    expect((await identity.call("GET", `/members/${member}`)).body).toMatchObject({
      principal: "service_account",
      service_account_id: account.body.id,
      display_name: "Bot",
    });
    for (const display_name of ["Other", null]) {
      const refused = await identity.call("PATCH", `/members/${member}`, { display_name });
      expect(wrongFields(refused)).toEqual(["display_name"]);
    }
    await identity.call("PATCH", `/organizations/${id}/service-accounts/${account.body.id}`, { name: "New" });
    expect((await identity.call("GET", `/members/${member}`)).body.display_name).toBe("New");
    await identity.call("DELETE", `/members/${member}`);
    const former = await identity.call("GET", `/organizations/${id}/members/${member}`);
    expect(former.body).toEqual({
      id: member,
      organization_id: id,
      principal: "service_account",
      display_name: "New",
      status: "removed",
    });
  });
});

describe("PATCH of a member, under both paths", () => {
  // ID-33, ID-76, ID-98
  test("returns 200, and the audit details have {from, to} of each change", async () => {
    const { id } = await identity.organization();
    const { id: member } = await identity.member(id);
    const path = `/organizations/${id}/members/${member}`;
    const all = { status: "suspended", role: "admin", display_name: " Zoë " };
    const changed = await identity.call("PATCH", path, all);
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ status: "suspended", role: "admin", display_name: "Zoë" });
    expect(changed.note.details).toEqual({
      status: { from: "active", to: "suspended" },
      role: { from: "member", to: "admin" },
      display_name: { from: null, to: "Zoë" },
    });
    expect((await identity.call("PATCH", path, all)).note.details).toBeNull();
    const part = await identity.call("PATCH", path, { status: "active", role: "admin" });
    expect(part.note.details).toEqual({ status: { from: "suspended", to: "active" } });
  });

  // ID-33, ID-34
  test("returns 422 for an empty body, the status removed, and a role under /members", async () => {
    const { id } = await identity.organization();
    const { id: member } = await identity.member(id);
    for (const path of [`/members/${member}`, `/organizations/${id}/members/${member}`]) {
      expect((await identity.call("PATCH", path, {})).status).toBe(422);
      expect(wrongFields(await identity.call("PATCH", path, { status: "removed" }))).toEqual(["status"]);
      expect(wrongFields(await identity.call("PATCH", path, { status: null }))).toEqual(["status"]);
    }
    expect(wrongFields(await identity.call("PATCH", `/members/${member}`, { role: "admin" }))).toEqual([
      "role",
    ]);
  });

  // ID-37
  test("can suspend the last member, but cannot change the role of the last owner, suspended or not", async () => {
    const { id, ownerMember } = await identity.organization();
    const path = `/organizations/${id}/members/${ownerMember}`;
    expect((await identity.call("PATCH", path, { status: "suspended" })).status).toBe(200);
    expect(wrongFields(await identity.call("PATCH", path, { role: "admin" }))).toEqual(["role"]);
    expect((await identity.call("PATCH", path, { role: "owner" })).status).toBe(200);
    const other = await identity.member(id, "owner");
    await identity.call("PATCH", `/members/${other.id}`, { status: "suspended" });
    expect((await identity.call("PATCH", path, { role: "admin" })).status).toBe(200);
  });
});

describe("DELETE of a member, under both paths", () => {
  // ID-29, ID-32, ID-34, ID-35
  test("returns 204, revokes keys, deletes sessions, and leaves a removed member under /organizations", async () => {
    const { id } = await identity.organization();
    for (const atOrganization of [true, false]) {
      const { id: member, user_id } = await identity.member(id);
      await identity.call("PATCH", `/members/${member}`, { display_name: "Leaver" });
      const key = (await identity.call("POST", `/members/${member}/api-keys`)).body.key;
      const session = (await identity.call("POST", `/users/${user_id}/organizations/${id}/session`)).body
        .token;
      const ofOrganization = `/organizations/${id}/members/${member}`;
      const removed = await identity.call("DELETE", atOrganization ? ofOrganization : `/members/${member}`);
      expect(removed.status).toBe(204);
      expect(removed.note).toEqual({ details: null, created: null, organization_id: null, member_id: null });
      expect(await identity.validate(key)).toEqual({ valid: false });
      expect(await identity.validate(session)).toEqual({ valid: false });
      expect((await identity.call("GET", ofOrganization)).body).toEqual({
        id: member,
        organization_id: id,
        principal: "user",
        display_name: "Leaver",
        status: "removed",
      });
      expect((await identity.call("GET", `/members/${member}`)).status).toBe(404);
      expect((await identity.call("GET", `/members/${member}/user`)).body).toEqual({ user_id });
      for (const path of [ofOrganization, `/members/${member}`]) {
        expect((await identity.call("PATCH", path, { status: "active" })).status).toBe(404);
        expect((await identity.call("DELETE", path)).status).toBe(404);
      }
      expect((await identity.call("GET", `/members/${member}/api-keys`)).status).toBe(404);
      const listed = (await identity.call("GET", `/organizations/${id}/members`)).body.members;
      expect(listed.map((each: { id: string }) => each.id)).not.toContain(member);
    }
  });

  // ID-36, ID-37
  test("returns 422 for the last member and for the last owner", async () => {
    const { id, ownerMember } = await identity.organization();
    expect(wrongFields(await identity.call("DELETE", `/members/${ownerMember}`))).toEqual(["member_id"]);
    const { id: other } = await identity.member(id, "admin");
    const path = `/organizations/${id}/members/${ownerMember}`;
    expect(wrongFields(await identity.call("DELETE", path))).toEqual(["member_id"]);
    expect((await identity.call("GET", path)).body.status).toBe("active");
    await identity.call("PATCH", `/organizations/${id}/members/${other}`, { role: "owner" });
    expect((await identity.call("DELETE", path)).status).toBe(204);
  });
});

describe("GET /members/{member_id}/user", () => {
  // ID-38
  test("returns the person, or 404 for a service account", async () => {
    const { id, owner, ownerMember } = await identity.organization();
    const found = await identity.call("GET", `/members/${ownerMember}/user`);
    expect(found.body).toEqual({ user_id: owner });
    const account = await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" });
    expect((await identity.call("GET", `/members/${account.body.member_id}/user`)).status).toBe(404);
  });
});

// ID-9
test("no response about an organization, its members, accounts, invites, keys or sessions has a user_id", async () => {
  const { id, owner, ownerMember } = await identity.organization();
  const { id: member, user_id } = await identity.member(id);
  const account = await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" });
  const invite = await identity.call("POST", `/organizations/${id}/invites`, { max_uses: null });
  const answers = [
    account,
    invite,
    await identity.call("GET", `/organizations/${id}`),
    await identity.call("GET", `/organizations/${id}/members`),
    await identity.call("GET", `/organizations/${id}/members/${member}`),
    await identity.call("GET", `/members/${ownerMember}`),
    await identity.call("PATCH", `/members/${member}`, { display_name: "A" }),
    await identity.call("GET", `/organizations/${id}/invites`),
    await identity.call("POST", `/users/${user_id}/invites/redeem`, { token: invite.body.token }),
    await identity.call("POST", `/users/${owner}/organizations/${id}/session`),
    await identity.call("POST", `/members/${member}/api-keys`),
    await identity.call("GET", `/members/${member}/api-keys`),
    await identity.call("POST", `/organizations/${id}/members`, { idp: { issuer: ISSUER, subject: NOBODY } }),
    await identity.call("DELETE", `/members/${member}`),
    await identity.call("GET", `/organizations/${id}/members/${member}`),
  ];
  for (const { text, headers, status } of answers) {
    expect(status).toBeLessThan(300);
    const all = text + JSON.stringify([...headers]);
    for (const secret of [owner, user_id, "user_id"]) expect(all).not.toContain(secret);
  }
});
