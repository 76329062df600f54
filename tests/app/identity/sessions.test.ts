import { describe, expect, test } from "bun:test";
import { expirySweeper } from "../../../apps/identity/expiry-sweeper.ts";
import { waitFor } from "../../support/index.ts";
import { useIdentity } from "./bed.ts";
import { NOBODY, wrongFields } from "./harness.ts";

const HOUR_MS = 3_600_000;

const identity = useIdentity();

const mint = (user: string, organization: string, body?: unknown) =>
  identity.call("POST", `/users/${user}/organizations/${organization}/session`, body);

describe("POST /users/{user_id}/organizations/{organization_id}/session", () => {
  // ID-66, ID-67, ID-100
  test("returns 201 with the session, the member's labels and an audit note", async () => {
    const { id } = await identity.organization();
    const { id: member, user_id } = await identity.member(id, "admin");
    const minted = await mint(user_id, id);
    expect(minted.status).toBe(201);
    expect(minted.body).toEqual({
      token: expect.stringMatching(/^acme-s-2-[A-Za-z0-9_-]{43}$/),
      expires_at: new Date(identity.clock.now() + HOUR_MS).toISOString(),
      member_id: member,
      organization_id: id,
      role: "admin",
      labels: ["org:write", "org:members:write"],
    });
    expect(minted.note).toEqual({ details: null, created: null, organization_id: id, member_id: member });
    const { token: _, role: __, ...rest } = minted.body;
    expect(await identity.validate(minted.body.token)).toEqual({
      valid: true,
      realm: "organization",
      plan: null,
      ...rest,
    });
  });

  // ID-67
  test("creates a session that is valid for one hour, even if another one is created", async () => {
    const { id, owner } = await identity.organization();
    const first = (await mint(owner, id)).body.token;
    identity.clock.advance(HOUR_MS - 1);
    const second = (await mint(owner, id)).body.token;
    expect(await identity.validate(first)).toMatchObject({ valid: true });
    identity.clock.advance(1);
    expect(await identity.validate(first)).toEqual({ valid: false });
    expect(await identity.validate(second)).toMatchObject({ valid: true });
  });

  test("creates a session that follows later changes of the member's role", async () => {
    const { id } = await identity.organization();
    const { id: member, user_id } = await identity.member(id, "viewer");
    const { token } = (await mint(user_id, id)).body;
    await identity.call("PATCH", `/organizations/${id}/members/${member}`, { role: "owner" });
    expect(await identity.validate(token)).toMatchObject({ labels: ["*"] });
  });

  // ID-66
  test("returns 404 if the person is no active member, and for an unknown organization or person", async () => {
    const { id, owner } = await identity.organization();
    const { id: member, user_id } = await identity.member(id);
    await identity.call("PATCH", `/members/${member}`, { status: "suspended" });
    const refusals = [await mint(user_id, id)];
    await identity.call("DELETE", `/members/${member}`);
    refusals.push(
      await mint(user_id, id),
      await mint(await identity.person(), id),
      await mint(owner, NOBODY),
      await mint(NOBODY, id),
      await mint("x".repeat(128), id),
    );
    for (const { status } of refusals) expect(status).toBe(404);
  });

  // ID-68
  test("returns 422 for empty ids and for a user_id of more than 128 characters", async () => {
    const { id, owner } = await identity.organization();
    expect(wrongFields(await mint("", id))).toEqual(["user_id"]);
    expect(wrongFields(await mint(owner, ""))).toEqual(["organization_id"]);
    expect(wrongFields(await mint("", ""))).toEqual(["user_id", "organization_id"]);
    expect(wrongFields(await mint("x".repeat(129), id))).toEqual(["user_id"]);
    expect(wrongFields(await mint(owner, id, { ttl_seconds: 60 }))).toEqual(["ttl_seconds"]);
  });

  // ID-81
  test("sessions are stored as SHA-256 hex", async () => {
    const { id, owner } = await identity.organization();
    const { token } = (await mint(owner, id)).body;
    const hash = new Bun.CryptoHasher("sha256").update(token).digest("hex");
    const found = await identity.sql`select count(*) as found from identity.sessions where hash = ${hash}`;
    expect(found).toEqual([{ found: 1 }]);
  });
});

// ID-69
test("expired sessions are deleted in the background every ten minutes, and valid ones are kept", async () => {
  const { id, owner } = await identity.organization();
  const addExpired = (count: number) =>
    identity.sql`insert into identity.sessions (hash, member_id, created_at, expires_at)
      select 'expired' || number, (select id from identity.members where organization_id = ${id} limit 1),
        ${identity.clock.date().toISOString()}::timestamptz, ${identity.clock.date().toISOString()}::timestamptz
      from generate_series(1, ${count}::integer) number`;
  const count = async () => {
    const found =
      await identity.sql`select count(*) as left from identity.sessions where hash like 'expired%'`;
    return found[0]?.left;
  };
  await addExpired(2500);
  const { token } = (await mint(owner, id)).body;
  expect(await count()).toBe(2500);
  const sweeper = expirySweeper(identity.deps, { debug() {}, info() {}, warn() {}, error() {} });
  sweeper.start();
  await waitFor(async () => (await count()) === 0);
  await waitFor(() => identity.clock.waiting().length > 0);
  await addExpired(1);
  identity.clock.advance(10 * 60 * 1000 - 1);
  expect(await count()).toBe(1);
  identity.clock.advance(1);
  await waitFor(async () => (await count()) === 0);
  await sweeper.stop();
  expect(await identity.validate(token)).toMatchObject({ valid: true });
});
