import { describe, expect, test } from "bun:test";
import { expirySweeper } from "../../../apps/identity/expiry-sweeper.ts";
import { waitFor } from "../../support/index.ts";
import { useIdentity } from "./bed.ts";
import { NOBODY, ROLES, TIME, ULID, wrongFields } from "./harness.ts";

const DAY_MS = 86_400_000;

const identity = useIdentity();

const redeem = (user: string, token: string) =>
  identity.call("POST", `/users/${user}/invites/redeem`, { token });

async function stored(id: string) {
  const [row] =
    await identity.sql`select status, email, token, token_hash <> '' as hashed from identity.invites where id = ${id}`;
  return row;
}

describe("POST /organizations/{organization_id}/invites", () => {
  // ID-39, ID-40, ID-42, ID-111
  test("returns 201 with the token, default_role, one use and seven days", async () => {
    const { id } = await identity.organization();
    const created = await identity.call("POST", `/organizations/${id}/invites`);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(ULID),
      organization_id: id,
      role: "member",
      token_prefix: created.body.token.slice(0, 8),
      token: expect.stringMatching(/^inv_[A-Za-z0-9_-]{43}$/),
      status: "active",
      max_uses: 1,
      use_count: 0,
      expires_at: new Date(identity.clock.now() + 7 * DAY_MS).toISOString(),
      created_at: expect.stringMatching(TIME),
    });
    expect(created.note).toEqual({
      details: { invite_id: created.body.id, role: "member" },
      created: created.body.id,
      organization_id: null,
      member_id: null,
    });
  });

  // ID-40, ID-41
  test("returns 201 with the requested values", async () => {
    const { id } = await identity.organization();
    const body = { email: " ada@example.com ", role: "admin", expires_in_seconds: 60, max_uses: null };
    const created = await identity.call("POST", `/organizations/${id}/invites`, body);
    expect(created.body).toMatchObject({
      email: "ada@example.com",
      role: "admin",
      max_uses: null,
      expires_at: new Date(identity.clock.now() + 60_000).toISOString(),
    });
    const longest = { expires_in_seconds: 30 * 86_400, max_uses: 2_147_483_647 };
    expect((await identity.call("POST", `/organizations/${id}/invites`, longest)).status).toBe(201);
    const email = (length: number) =>
      identity.call("POST", `/organizations/${id}/invites`, { email: "e".repeat(length) });
    expect((await email(320)).status).toBe(201);
    expect(wrongFields(await email(321))).toEqual(["email"]);
  });
});

describe("POST /users/{user_id}/invites/redeem", () => {
  // ID-41, ID-44, ID-100
  test("returns 201 with the new member, who has the invite's role, and an audit note", async () => {
    const { id } = await identity.organization();
    const invite = await identity.call("POST", `/organizations/${id}/invites`, {
      role: "admin",
      email: "ada@example.com",
    });
    const user = await identity.person();
    const redeemed = await redeem(user, invite.body.token);
    expect(redeemed.status).toBe(201);
    expect(redeemed.body).toMatchObject({ organization_id: id, role: "admin", status: "active" });
    expect(redeemed.note).toEqual({
      details: null,
      created: redeemed.body.id,
      organization_id: id,
      member_id: redeemed.body.id,
    });
    expect(await stored(invite.body.id)).toEqual({
      status: "redeemed",
      email: null,
      token: null,
      hashed: true,
    });
  });

  // ID-44, ID-95, ID-100
  test("returns 200 for an existing member, counts a use, and creates no lifecycle event", async () => {
    const { id, owner, ownerMember } = await identity.organization();
    const invite = await identity.call("POST", `/organizations/${id}/invites`, {
      max_uses: 2,
      role: "viewer",
    });
    await identity.call("PATCH", `/members/${ownerMember}`, { status: "suspended" });
    const before = (await identity.events()).length;
    const redeemed = await redeem(owner, invite.body.token);
    expect(redeemed.status).toBe(200);
    expect(redeemed.body).toMatchObject({ id: ownerMember, role: "owner", status: "suspended" });
    expect(redeemed.note).toEqual({
      details: null,
      created: null,
      organization_id: id,
      member_id: ownerMember,
    });
    expect((await identity.events()).length).toBe(before);
    const [listed] = (await identity.call("GET", `/organizations/${id}/invites`)).body.invites;
    expect(listed).toMatchObject({ use_count: 1, status: "active", token: invite.body.token });
    expect((await redeem(owner, invite.body.token)).status).toBe(200);
    expect((await redeem(owner, invite.body.token)).status).toBe(409);
  });

  test("lets a removed member join again, as a new member", async () => {
    const { id } = await identity.organization();
    const { id: member, user_id } = await identity.member(id);
    await identity.call("DELETE", `/members/${member}`);
    const invite = await identity.call("POST", `/organizations/${id}/invites`);
    const redeemed = await redeem(user_id, invite.body.token);
    expect(redeemed.status).toBe(201);
    expect(redeemed.body.id).not.toBe(member);
  });

  // ID-45, ER-24
  test("returns 404 for an unknown token, without naming an organization", async () => {
    const user = await identity.person();
    for (const token of ["inv_unknown", "x", "\u0000", "\ud800", "x".repeat(10_000)]) {
      const refused = await redeem(user, token);
      expect(refused.status).toBe(404);
      expect(refused.body.error).toMatchObject({ code: "NOT_FOUND", details: null });
    }
    expect((await redeem(NOBODY, "inv_unknown")).status).toBe(404);
    expect(wrongFields(await identity.call("POST", `/users/${user}/invites/redeem`, {}))).toEqual(["token"]);
    expect(wrongFields(await redeem(user, ""))).toEqual(["token"]);
  });

  // ID-41, ID-45
  test("returns 409 with the invite's status if it is redeemed, revoked or expired", async () => {
    const { id } = await identity.organization();
    const user = await identity.person();
    const create = async () =>
      (await identity.call("POST", `/organizations/${id}/invites`, { email: "ada@example.com" })).body;
    const redeemed = await create();
    await redeem(await identity.person(), redeemed.token);
    const revoked = await create();
    await identity.call("DELETE", `/organizations/${id}/invites/${revoked.id}`);
    const expired = await create();
    identity.clock.advance(7 * DAY_MS);
    for (const [invite, status] of [
      [redeemed, "redeemed"],
      [revoked, "revoked"],
      [expired, "expired"],
    ] as const) {
      const refused = await redeem(user, invite.token);
      expect(refused.status).toBe(409);
      expect(refused.body.error).toMatchObject({
        code: "CONFLICT",
        details: { field: "status", value: status },
      });
      expect(await stored(invite.id)).toEqual({ status, email: null, token: null, hashed: true });
    }
    expect((await identity.call("GET", `/users/${user}/memberships`)).body.memberships).toEqual([]);
  });

  // ID-47
  test("accepts an invite until the millisecond before its expiry", async () => {
    const { id } = await identity.organization();
    const invite = await identity.call("POST", `/organizations/${id}/invites`, {
      expires_in_seconds: 60,
      max_uses: 2,
    });
    identity.clock.advance(59_999);
    expect((await redeem(await identity.person(), invite.body.token)).status).toBe(201);
    identity.clock.advance(1);
    expect((await redeem(await identity.person(), invite.body.token)).status).toBe(409);
  });

  // ID-49
  test("copies a role that is no longer in the roles file, which grants nothing", async () => {
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

describe("GET and DELETE of invites", () => {
  // ID-39, ID-41, ID-43, ID-47
  test("GET lists invites in every state, with token and address only of active ones, and stores their expiry", async () => {
    const { id } = await identity.organization();
    const create = async (body: object) =>
      (await identity.call("POST", `/organizations/${id}/invites`, { email: "ada@example.com", ...body }))
        .body;
    const brief = await create({ expires_in_seconds: 60 });
    const revoked = await create({});
    const active = await create({});
    await identity.call("DELETE", `/organizations/${id}/invites/${revoked.id}`);
    identity.clock.advance(60_000);
    expect((await stored(brief.id))?.status).toBe("active");
    const { body } = await identity.call("GET", `/organizations/${id}/invites`);
    expect(
      body.invites.map((each: Record<string, unknown>) => [
        each.id,
        each.status,
        "token" in each,
        each.email,
      ]),
    ).toEqual([
      [brief.id, "expired", false, undefined],
      [revoked.id, "revoked", false, undefined],
      [active.id, "active", true, "ada@example.com"],
    ]);
    expect(await stored(brief.id)).toEqual({ status: "expired", email: null, token: null, hashed: true });
  });

  // ID-41
  test("an overdue invite that nobody reads loses token and address in the background, and others keep them", async () => {
    const { id } = await identity.organization();
    const create = async (body: object) =>
      (await identity.call("POST", `/organizations/${id}/invites`, { email: "ada@example.com", ...body }))
        .body;
    const overdue = await create({ expires_in_seconds: 60 });
    const active = await create({ expires_in_seconds: 61 });
    identity.clock.advance(60_000);
    const sweeper = expirySweeper(identity.deps, { debug() {}, info() {}, warn() {}, error() {} });
    sweeper.start();
    await waitFor(async () => (await stored(overdue.id))?.status === "expired");
    await sweeper.stop();
    expect(await stored(overdue.id)).toEqual({ status: "expired", email: null, token: null, hashed: true });
    expect(await stored(active.id)).toMatchObject({ status: "active", email: "ada@example.com" });
  });

  // ID-41, ID-48
  test("DELETE revokes an invite, a second DELETE changes nothing, and an overdue invite becomes expired", async () => {
    const { id } = await identity.organization();
    const create = async () =>
      (
        await identity.call("POST", `/organizations/${id}/invites`, {
          expires_in_seconds: 60,
          email: "ada@example.com",
        })
      ).body;
    const [revoked, overdue] = [await create(), await create()];
    for (let times = 0; times < 2; times++) {
      const answer = await identity.call("DELETE", `/organizations/${id}/invites/${revoked.id}`);
      expect(answer.status).toBe(204);
      expect(answer.note.details).toBeNull();
      expect(await stored(revoked.id)).toEqual({ status: "revoked", email: null, token: null, hashed: true });
    }
    identity.clock.advance(60_000);
    expect((await identity.call("DELETE", `/organizations/${id}/invites/${overdue.id}`)).status).toBe(204);
    expect(await stored(overdue.id)).toMatchObject({ status: "expired", email: null });
  });
});
