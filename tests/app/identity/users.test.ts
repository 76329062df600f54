import { describe, expect, test } from "bun:test";
import { useIdentity } from "./bed.ts";
import { ISSUER, TIME, ULID } from "./harness.ts";

const identity = useIdentity();

describe("GET /users", () => {
  // ID-16
  test("lists people, ordered by id", async () => {
    const people = [await identity.person(), await identity.person(), await identity.person()];
    const { status, body } = await identity.call("GET", "/users?limit=100");
    expect(status).toBe(200);
    const ids = body.users.map((user: { id: string }) => user.id);
    expect(ids).toEqual(ids.toSorted());
    for (const person of people) expect(ids).toContain(person);
    expect(body.has_more).toBe(false);
  });
});

describe("GET /users/{user_id}", () => {
  // ID-7, ID-15, ID-16
  test("returns the person", async () => {
    const id = await identity.person();
    const { status, body } = await identity.call("GET", `/users/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(ULID),
      display_name: null,
      status: "active",
      created_at: expect.stringMatching(TIME),
      updated_at: body.created_at,
    });
  });

  // ID-10
  test("returns the person even if the path ends with a slash", async () => {
    const id = await identity.person();
    expect(await identity.call("GET", `/users/${id}/`)).toEqual(await identity.call("GET", `/users/${id}`));
    expect((await identity.call("GET", "/users/?limit=1")).status).toBe(200);
    expect((await identity.call("GET", `/users/${id}//`)).status).toBe(404);
  });
});

describe("PATCH /users/{user_id}", () => {
  // ID-17, ID-98
  test("returns 200, with audit details of the change, or none if nothing changed", async () => {
    const id = await identity.person();
    identity.clock.advance(1000);
    const named = await identity.call("PATCH", `/users/${id}`, { display_name: "  Ada Lovelace " });
    expect(named.body).toMatchObject({ id, display_name: "Ada Lovelace" });
    expect(named.body.updated_at > named.body.created_at).toBe(true);
    expect(named.note).toEqual({
      details: { display_name: { from: null, to: "Ada Lovelace" } },
      created: null,
      organization_id: null,
      member_id: null,
    });
    identity.clock.advance(1000);
    const again = await identity.call("PATCH", `/users/${id}`, { display_name: "Ada Lovelace" });
    expect(again.body).toEqual(named.body);
    expect(again.note.details).toBeNull();
    const cleared = await identity.call("PATCH", `/users/${id}`, { display_name: null });
    expect(cleared.body.display_name).toBeNull();
    expect(cleared.note.details).toEqual({ display_name: { from: "Ada Lovelace", to: null } });
  });
});

describe("PATCH /users/{user_id}/status", () => {
  // ID-18
  test("returns 200; no credential of a suspended person is valid until the person is active again", async () => {
    const subject = crypto.randomUUID();
    const id = await identity.person(subject);
    const organization = await identity.call("POST", `/users/${id}/organizations`, { name: "Own" });
    const member = String(organization.note.member_id);
    const userKey = (await identity.call("POST", `/users/${id}/api-keys`)).body.key;
    const memberKey = (await identity.call("POST", `/members/${member}/api-keys`)).body.key;
    const mint = `/users/${id}/organizations/${organization.body.id}/session`;
    const session = (await identity.call("POST", mint)).body.token;

    const suspended = await identity.call("PATCH", `/users/${id}/status`, { status: "suspended" });
    expect(suspended.status).toBe(200);
    expect(suspended.body.status).toBe("suspended");
    expect(suspended.note.details).toEqual({ status: { from: "active", to: "suspended" } });
    const jwt = { idp: { issuer: ISSUER, subject } };
    for (const body of [jwt, { credential: userKey }, { credential: memberKey }, { credential: session }]) {
      const answer = await identity.internal("POST", "/internal/credentials/validate", body);
      expect(answer.body).toEqual({ valid: false });
    }
    expect((await identity.call("POST", mint)).status).toBe(404);

    await identity.call("PATCH", `/users/${id}/status`, { status: "active" });
    for (const credential of [userKey, memberKey, session]) {
      expect(await identity.validate(credential)).toMatchObject({ valid: true });
    }
    expect(
      (await identity.call("PATCH", `/users/${id}/status`, { status: "active" })).note.details,
    ).toBeNull();
  });
});

describe("DELETE /users/{user_id}", () => {
  // ID-20, ID-22, ID-38, ID-98
  test("returns 204, ends memberships, deletes names and keys, and the subject then gets a new person", async () => {
    const subject = crypto.randomUUID();
    const id = await identity.person(subject);
    await identity.call("PATCH", `/users/${id}`, { display_name: "Ada" });
    const { id: organization } = await identity.organization();
    const idp = { issuer: ISSUER, subject };
    const add = () => identity.call("POST", `/organizations/${organization}/members`, { idp });
    const earlier = (await add()).body.id;
    await identity.call("PATCH", `/members/${earlier}`, { display_name: "Countess" });
    await identity.call("DELETE", `/members/${earlier}`);
    const member = (await add()).body.id;
    const keys = [
      (await identity.call("POST", `/users/${id}/api-keys`)).body.key,
      (await identity.call("POST", `/members/${member}/api-keys`)).body.key,
      (await identity.call("POST", `/users/${id}/organizations/${organization}/session`)).body.token,
    ];

    const deleted = await identity.call("DELETE", `/users/${id}`);
    expect(deleted.status).toBe(204);
    expect(deleted.text).toBe("");
    expect(deleted.note.details).toBeNull();
    expect((await identity.call("GET", `/users/${id}`)).status).toBe(404);
    expect((await identity.call("DELETE", `/users/${id}`)).status).toBe(404);
    for (const key of keys) expect(await identity.validate(key)).toEqual({ valid: false });
    for (const former of [earlier, member]) {
      const { body } = await identity.call("GET", `/organizations/${organization}/members/${former}`);
      expect(body).toEqual({
        id: former,
        organization_id: organization,
        principal: "user",
        display_name: null,
        status: "removed",
      });
      expect((await identity.call("GET", `/members/${former}/user`)).status).toBe(404);
    }
    const next = await identity.person(subject);
    expect(next).not.toBe(id);
    expect((await add()).status).toBe(201);
  });

  // ID-21
  test("returns 409 with every organization that would lose its last member or owner", async () => {
    const id = await identity.person();
    const alone = await identity.call("POST", `/users/${id}/organizations`, { name: "Alone" });
    const led = await identity.call("POST", `/users/${id}/organizations`, { name: "Led" });
    await identity.member(led.body.id, "admin");
    const shared = await identity.call("POST", `/users/${id}/organizations`, { name: "Shared" });
    const heir = await identity.member(shared.body.id, "owner");
    await identity.call("PATCH", `/members/${heir.id}`, { status: "suspended" });

    const refused = await identity.call("DELETE", `/users/${id}`);
    expect(refused.status).toBe(409);
    expect(refused.body.error.code).toBe("ORGANIZATION_HANDOFF_REQUIRED");
    expect(refused.body.error.details).toEqual({
      organizations: [
        { id: alone.body.id, name: "Alone" },
        { id: led.body.id, name: "Led" },
      ],
    });
    expect((await identity.call("GET", `/users/${id}/memberships`)).body.memberships).toHaveLength(3);
    await identity.call("DELETE", `/organizations/${alone.body.id}`);
    await identity.call("DELETE", `/organizations/${led.body.id}`);
    expect((await identity.call("DELETE", `/users/${id}`)).status).toBe(204);
  });

  test("returns 204 if a service account remains as a member", async () => {
    const { id, owner } = await identity.organization();
    const body = { name: "Bot", role: "owner" };
    await identity.call("POST", `/organizations/${id}/service-accounts`, body);
    expect((await identity.call("DELETE", `/users/${owner}`)).status).toBe(204);
  });
});

describe("GET /users/{user_id}/memberships", () => {
  // ID-19
  test("lists only active memberships", async () => {
    const id = await identity.person();
    const first = await identity.call("POST", `/users/${id}/organizations`, { name: "First" });
    const second = await identity.call("POST", `/users/${id}/organizations`, { name: "Second" });
    const path = `/users/${id}/memberships`;
    expect((await identity.call("GET", path)).body).toEqual({
      memberships: [first, second].map(({ body, note }) => ({
        id: note.member_id,
        organization: { id: body.id, name: body.name },
        role: "owner",
        status: "active",
      })),
      has_more: false,
    });
    await identity.call("PATCH", `/members/${first.note.member_id}`, { status: "suspended" });
    const listed = (await identity.call("GET", path)).body.memberships;
    expect(listed.map((each: { id: string }) => each.id)).toEqual([second.note.member_id]);
  });
});
