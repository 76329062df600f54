import { describe, expect, test } from "bun:test";
import { useIdentity } from "./bed.ts";
import { TIME, ULID, wrongFields } from "./harness.ts";

const identity = useIdentity();

async function account(body: object = { name: "Bot" }) {
  const organization = await identity.organization();
  const created = await identity.call("POST", `/organizations/${organization.id}/service-accounts`, body);
  const path = `/organizations/${organization.id}/service-accounts/${created.body.id}`;
  return { organization, created, path, member: String(created.body.member_id) };
}

describe("POST .../service-accounts", () => {
  // ID-51, ID-73, ID-111
  test("returns 201 with an active account, which has service_account_default_role or the requested role", async () => {
    const { organization, created } = await account({ name: " Nightly " });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(ULID),
      organization_id: organization.id,
      member_id: expect.stringMatching(ULID),
      name: "Nightly",
      role: "viewer",
      status: "active",
      created_at: expect.stringMatching(TIME),
      updated_at: created.body.created_at,
    });
    const { id, member_id } = created.body;
    expect(created.note).toEqual({
      details: { service_account_id: id, member_id, name: "Nightly", role: "viewer" },
      created: id,
      organization_id: null,
      member_id: null,
    });
    const named = await account({ name: "Bot", role: "owner" });
    expect(named.created.body.role).toBe("owner");
  });
});

describe("GET, PATCH and DELETE of a service account", () => {
  // ID-50, ID-52
  test("show and change it; its role and status are those of its member", async () => {
    const { organization, path, created, member } = await account();
    await identity.call("PATCH", `/organizations/${organization.id}/members/${member}`, {
      role: "admin",
      status: "suspended",
    });
    const read = await identity.call("GET", path);
    expect(read.body).toMatchObject({ id: created.body.id, role: "admin", status: "suspended" });
    const renamed = await identity.call("PATCH", path, { name: "Renamed" });
    expect(renamed.body).toMatchObject({ name: "Renamed", role: "admin", status: "suspended" });
    expect(renamed.note.details).toEqual({ name: { from: "Bot", to: "Renamed" } });
    expect((await identity.call("PATCH", path, { name: "Renamed" })).note.details).toBeNull();
    expect(wrongFields(await identity.call("PATCH", path, { name: "A", role: "admin" }))).toEqual(["role"]);
    const { body } = await identity.call("GET", `/organizations/${organization.id}/service-accounts`);
    expect(body).toMatchObject({
      service_accounts: [{ id: created.body.id, name: "Renamed" }],
      has_more: false,
    });
  });

  // ID-53
  test("remove its member and keys, and return 404 from then on", async () => {
    const { organization, path, member } = await account();
    const key = (await identity.call("POST", `${path}/api-keys`)).body.key;
    expect((await identity.call("DELETE", path)).status).toBe(204);
    expect(await identity.validate(key)).toEqual({ valid: false });
    for (const method of ["GET", "DELETE"] as const) {
      expect((await identity.call(method, path)).status).toBe(404);
      expect((await identity.call(method, `/members/${member}`)).status).toBe(404);
    }
    expect((await identity.call("PATCH", path, { name: "A" })).status).toBe(404);
    expect((await identity.call("GET", `${path}/api-keys`)).status).toBe(404);
    expect((await identity.call("POST", `${path}/api-keys`)).status).toBe(404);
    const listed = await identity.call("GET", `/organizations/${organization.id}/service-accounts`);
    expect(listed.body.service_accounts).toEqual([]);
  });

  // ID-36, ID-53
  test("return 422 if it is the last member or the last owner", async () => {
    const { organization, path, member } = await account({ name: "Heir", role: "owner" });
    expect((await identity.call("DELETE", `/members/${organization.ownerMember}`)).status).toBe(204);
    expect(wrongFields(await identity.call("DELETE", path))).toEqual(["member_id"]);
    await identity.member(organization.id, "admin");
    expect(wrongFields(await identity.call("DELETE", path))).toEqual(["member_id"]);
    const demoted = await identity.call("PATCH", `/organizations/${organization.id}/members/${member}`, {
      role: "viewer",
    });
    expect(wrongFields(demoted)).toEqual(["role"]);
  });

  // ID-54
  test("a service account cannot have a session, and has no person", async () => {
    const { organization, member } = await account();
    const minted = await identity.call("POST", `/users/${member}/organizations/${organization.id}/session`);
    expect(minted.status).toBe(404);
  });
});
