import { describe, expect, test } from "bun:test";
import { services } from "../../support/index.ts";
import { useIdentity } from "./bed.ts";
import { BRAND, TIME, ULID } from "./harness.ts";

const real = services().postgres.real;
const identity = useIdentity({ poolMax: 20 });

/** For each path of keys, a function that creates an owner and returns the URL path of the owner's keys. */
const ownersByPath = {
  "/users/{user_id}/api-keys": async () => `/users/${await identity.person()}/api-keys`,
  "/members/{member_id}/api-keys": async () =>
    `/members/${(await identity.organization()).ownerMember}/api-keys`,
  "/organizations/{organization_id}/service-accounts/{service_account_id}/api-keys": async () => {
    const { id } = await identity.organization();
    const account = await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" });
    return `/organizations/${id}/service-accounts/${account.body.id}/api-keys`;
  },
};

const create = async (path: string, body?: object) => (await identity.call("POST", path, body)).body;
const rotate = (path: string, id: string, body?: unknown) =>
  identity.call("POST", `${path}/${id}/rotate`, body);
const listed = async (path: string) => (await identity.call("GET", `${path}?limit=100`)).body.keys;
const isValid = async (key: string) => Object(await identity.validate(key)).valid;
const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;

function expectConflict(answer: Awaited<ReturnType<typeof rotate>>, value: string) {
  expect(answer).toMatchObject({
    status: 409,
    body: { error: { code: "CONFLICT", details: { field: "status", value } } },
  });
}

describe.each(Object.entries(ownersByPath))("POST %s/{key_id}/rotate", (_template, newOwner) => {
  // ID-61, ID-111
  test("returns 201 with a new key of the same name, owner and lifetime; the old key is invalid at once", async () => {
    const path = await newOwner();
    const old = await create(path, { name: "Deploy", expires_in_seconds: 3600 });
    const held = await identity.validate(old.key);
    identity.clock.advance(600_000);
    const { status, body, note } = await rotate(path, old.id);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(ULID),
      name: "Deploy",
      key_prefix: body.key.slice(0, `${BRAND}-k-2-`.length + 4),
      created_at: identity.clock.date().toISOString(),
      expires_at: expect.stringMatching(TIME),
      last_used_at: null,
      revoked_at: null,
      key: expect.stringMatching(/^acme-k-2-[A-Za-z0-9_-]{43}$/),
    });
    expect(body.id > old.id && body.key !== old.key).toBe(true);
    expect(seconds(body.created_at, body.expires_at)).toBe(3600);
    expect(note).toEqual({
      details: { key_id: body.id, key_prefix: body.key_prefix, name: "Deploy" },
      created: body.id,
      organization_id: null,
      member_id: null,
    });
    expect(await identity.validate(old.key)).toEqual({ valid: false });
    expect(await identity.validate(body.key)).toEqual({ ...Object(held), expires_at: body.expires_at });
    const { key: _, ...record } = body;
    const keys = await listed(path);
    const ended = { expires_at: body.created_at, revoked_at: body.created_at };
    expect(keys).toMatchObject([{ id: old.id, ...ended }, record]);
  });

  // ID-61, ID-62
  test("revokes the old key if there is no overlap", async () => {
    const path = await newOwner();
    const old = await create(path);
    const { body } = await rotate(path, old.id, { overlap_seconds: 0 });
    const revoked_at = body.created_at;
    expect(await listed(path)).toMatchObject([{ id: old.id, revoked_at }, { revoked_at: null }]);
    identity.clock.advance(1_000);
    expectConflict(await rotate(path, old.id), "rotated");
    expect((await identity.call("DELETE", `${path}/${old.id}`)).status).toBe(204);
    expect(await listed(path)).toMatchObject([{ id: old.id, revoked_at }, { revoked_at: null }]);
  });

  // ID-61
  test("keeps both keys valid until the exact end of the overlap", async () => {
    const path = await newOwner();
    const old = await create(path);
    const { body } = await rotate(path, old.id, { overlap_seconds: 604_800 });
    expect(body.expires_at).toBeNull();
    const [ending] = await listed(path);
    expect(seconds(body.created_at, ending.expires_at)).toBe(604_800);
    expect(ending.revoked_at).toBeNull();
    identity.clock.advance(604_800_000 - 1);
    expect(await identity.validate(old.key)).toMatchObject({ valid: true, expires_at: ending.expires_at });
    expect(await isValid(body.key)).toBe(true);
    identity.clock.advance(1);
    expect([await isValid(old.key), await isValid(body.key)]).toEqual([false, true]);
  });

  // ID-61
  test("keeps the old key's expiry if the overlap is longer", async () => {
    const path = await newOwner();
    const old = await create(path, { expires_in_seconds: 60 });
    identity.clock.advance(59_999);
    expect((await rotate(path, old.id, { overlap_seconds: 3600 })).status).toBe(201);
    expect((await listed(path))[0].expires_at).toBe(old.expires_at);
    expect(await isValid(old.key)).toBe(true);
    identity.clock.advance(1);
    expect(await isValid(old.key)).toBe(false);
  });

  // ID-62
  test("returns 409 for a key that is revoked, expired or already rotated; the new key can be rotated", async () => {
    const path = await newOwner();
    const [revoked, expired, rotated] = [
      await create(path),
      await create(path, { expires_in_seconds: 60 }),
      await create(path),
    ];
    await identity.call("DELETE", `${path}/${revoked.id}`);
    const next = (await rotate(path, rotated.id, { overlap_seconds: 3600 })).body;
    identity.clock.advance(60_000);
    expectConflict(await rotate(path, revoked.id), "revoked");
    expectConflict(await rotate(path, expired.id), "expired");
    const again = await rotate(path, rotated.id);
    expectConflict(again, "rotated");
    expect(again.body.error.message).toContain(next.id);
    expect(await listed(path)).toHaveLength(4);
    expect(await isValid(rotated.key)).toBe(true);
    expect((await rotate(path, next.id)).status).toBe(201);
    await identity.call("DELETE", `${path}/${rotated.id}`);
    expectConflict(await rotate(path, rotated.id), "rotated");
    expect(await isValid(rotated.key)).toBe(false);
  });
});

// ID-65
test("a suspended member's key can be rotated, and a removed one's is 404", async () => {
  const { id } = await identity.organization();
  const { id: member } = await identity.member(id);
  const path = `/members/${member}/api-keys`;
  const { id: key } = await create(path);
  await identity.call("PATCH", `/members/${member}`, { status: "suspended" });
  const { status, body } = await rotate(path, key);
  expect(status).toBe(201);
  expect(await isValid(body.key)).toBe(false);
  await identity.call("PATCH", `/members/${member}`, { status: "active" });
  expect(await isValid(body.key)).toBe(true);
  await identity.call("DELETE", `/members/${member}`);
  expect((await rotate(path, body.id)).status).toBe(404);
});

// ID-58
test("a key with no expiry, or with a longer one than APIKEY_MAX_AGE_SECONDS, is rotated to one within it", async () => {
  const path = await ownersByPath["/users/{user_id}/api-keys"]();
  const old = [
    await create(path),
    await create(path, { expires_in_seconds: 7200 }),
    await create(path, { expires_in_seconds: 60 }),
  ];
  Object.assign(identity.deps, { apiKeyMaxAgeSeconds: 3600 });
  const lifetimes = [];
  for (const { id } of old) {
    const { body } = await rotate(path, id);
    lifetimes.push(seconds(body.created_at, body.expires_at));
  }
  Object.assign(identity.deps, { apiKeyMaxAgeSeconds: null });
  expect(lifetimes).toEqual([3600, 3600, 60]);
});

describe.skipIf(!real)("under concurrency", () => {
  // ID-62
  test("one of twenty rotations of a service account's key succeeds, under both paths", async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await identity.organization();
      const account = (await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" }))
        .body;
      const paths = [
        `/organizations/${id}/service-accounts/${account.id}/api-keys`,
        `/members/${account.member_id}/api-keys`,
      ];
      const old = await create(paths[0] ?? "");
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          rotate(paths[index % 2] ?? "", old.id, { overlap_seconds: index % 3 }),
        ),
      );
      const [won, ...more] = answers.filter(({ status }) => status === 201);
      expect(more).toEqual([]);
      for (const answer of answers) if (answer !== won) expectConflict(answer, "rotated");
      expect(await isValid(won?.body.key)).toBe(true);
      expect(await listed(paths[1] ?? "")).toHaveLength(2);
    }
  });

  test("if a key is rotated and revoked at once, it is invalid, and a new key exists only if it was returned", async () => {
    const path = await ownersByPath["/members/{member_id}/api-keys"]();
    for (let round = 0; round < 30; round++) {
      const old = await create(path);
      const before = (await listed(path)).length;
      const [rotated, revoked] = await Promise.all([
        rotate(path, old.id, { overlap_seconds: 3600 }),
        identity.call("DELETE", `${path}/${old.id}`),
      ]);
      expect(revoked.status).toBe(204);
      expect(await isValid(old.key)).toBe(false);
      if (rotated.status === 201) expect(await isValid(rotated.body.key)).toBe(true);
      else expectConflict(rotated, "revoked");
      expect(await listed(path)).toHaveLength(before + (rotated.status === 201 ? 1 : 0));
    }
  });

  test("if a member is removed while its keys are rotated, none is valid afterwards", async () => {
    for (let round = 0; round < 15; round++) {
      const { id } = await identity.organization();
      const { id: member } = await identity.member(id);
      const path = `/members/${member}/api-keys`;
      const old = await Promise.all(Array.from({ length: 8 }, () => create(path)));
      const [removed, ...rotated] = await Promise.all([
        identity.call("DELETE", `/members/${member}`),
        ...old.map((key) => rotate(path, key.id, { overlap_seconds: 3600 })),
      ]);
      expect(removed?.status).toBe(204);
      for (const { status } of rotated) expect([201, 404]).toContain(status);
      const texts = [...old, ...rotated.flatMap(({ status, body }) => (status === 201 ? [body] : []))];
      for (const { key } of texts) expect(await isValid(key)).toBe(false);
      const open =
        await identity.sql`select id from identity.api_keys where member_id = ${member} and revoked_at is null`;
      expect(open).toEqual([]);
    }
  });
});
