import { describe, expect, test } from "bun:test";
import { insertKey } from "@ostiary/identity/api-keys/sql";
import { useIdentity } from "./bed.ts";
import { BRAND, TIME, ULID } from "./harness.ts";

const identity = useIdentity();

/** For each path of keys, a function that creates an owner and returns the URL path of the owner's keys. */
const ownersByPath = {
  "/users/{user_id}/api-keys": async () => `/users/${await identity.person()}/api-keys`,
  "/members/{member_id}/api-keys": async () => {
    const { ownerMember } = await identity.organization();
    return `/members/${ownerMember}/api-keys`;
  },
  "/organizations/{organization_id}/service-accounts/{service_account_id}/api-keys": async () => {
    const { id } = await identity.organization();
    const account = await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" });
    return `/organizations/${id}/service-accounts/${account.body.id}/api-keys`;
  },
};

for (const [template, newOwner] of Object.entries(ownersByPath)) {
  describe(template, () => {
    // ID-55, ID-56, ID-111
    test("POST returns 201 with the key, which no later response has", async () => {
      const path = await newOwner();
      const created = await identity.call("POST", path, { name: " Deploy " });
      expect(created.status).toBe(201);
      const { id, key } = created.body;
      expect(created.body).toEqual({
        id: expect.stringMatching(ULID),
        name: "Deploy",
        key_prefix: key.slice(0, `${BRAND}-k-2-`.length + 4),
        created_at: expect.stringMatching(TIME),
        expires_at: null,
        last_used_at: null,
        revoked_at: null,
        key: expect.stringMatching(/^acme-k-2-[A-Za-z0-9_-]{43}$/),
      });
      expect(created.note).toEqual({
        details: { key_id: id, key_prefix: created.body.key_prefix, name: "Deploy" },
        created: id,
        organization_id: null,
        member_id: null,
      });
      const { key: _, ...record } = created.body;
      expect((await identity.call("GET", path)).body).toEqual({ keys: [record], has_more: false });
    });

    // ID-57
    test("POST without a name or a body creates a key with the name Unnamed Key", async () => {
      const path = await newOwner();
      expect((await identity.call("POST", path, {})).body.name).toBe("Unnamed Key");
      expect((await identity.call("POST", path)).body.name).toBe("Unnamed Key");
    });

    // ID-57
    test("POST with a lifetime sets expires_at exactly", async () => {
      const path = await newOwner();
      for (const expires_in_seconds of [60, 315_360_000]) {
        const { body } = await identity.call("POST", path, { expires_in_seconds });
        expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(expires_in_seconds * 1000);
        const { keys } = (await identity.call("GET", path)).body;
        expect(keys.at(-1).expires_at).toBe(body.expires_at);
      }
      expect((await identity.call("GET", path)).body.keys).toHaveLength(2);
    });

    // ID-60
    test("DELETE returns 204 and marks the key as revoked; a second DELETE changes nothing", async () => {
      const path = await newOwner();
      const { id, key } = (await identity.call("POST", path)).body;
      expect(await identity.validate(key)).toMatchObject({ valid: true });
      const revoked = await identity.call("DELETE", `${path}/${id}`);
      expect(revoked.status).toBe(204);
      expect(revoked.note.details).toBeNull();
      const first = (await identity.call("GET", path)).body.keys[0].revoked_at;
      expect(first).toMatch(TIME);
      identity.clock.advance(1000);
      expect((await identity.call("DELETE", `${path}/${id}`)).status).toBe(204);
      expect((await identity.call("GET", path)).body.keys[0].revoked_at).toBe(first);
      expect(await identity.validate(key)).toEqual({ valid: false });
    });
  });
}

// ID-55
test("a service account's keys can be listed and revoked under both of its paths", async () => {
  const { id } = await identity.organization();
  const account = await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" });
  const atAccount = `/organizations/${id}/service-accounts/${account.body.id}/api-keys`;
  const atMember = `/members/${account.body.member_id}/api-keys`;
  const first = (await identity.call("POST", atAccount)).body;
  const second = (await identity.call("POST", atMember)).body;
  for (const path of [atAccount, atMember]) {
    const { keys } = (await identity.call("GET", path)).body;
    expect(keys.map((key: { id: string }) => key.id)).toEqual([first.id, second.id]);
  }
  expect((await identity.call("DELETE", `${atMember}/${first.id}`)).status).toBe(204);
  expect((await identity.call("DELETE", `${atAccount}/${second.id}`)).status).toBe(204);
  expect(await identity.validate(first.key)).toEqual({ valid: false });
  expect(await identity.validate(second.key)).toEqual({ valid: false });
});

// ID-65
test("a suspended member's keys can be created, but are valid only once the member is active", async () => {
  const { id } = await identity.organization();
  const { id: member } = await identity.member(id);
  await identity.call("PATCH", `/members/${member}`, { status: "suspended" });
  const created = await identity.call("POST", `/members/${member}/api-keys`);
  expect(created.status).toBe(201);
  expect(await identity.validate(created.body.key)).toEqual({ valid: false });
  await identity.call("PATCH", `/members/${member}`, { status: "active" });
  expect(await identity.validate(created.body.key)).toMatchObject({ valid: true });
});

// ID-81
test("keys are stored as SHA-256 hex", async () => {
  const { key, id } = (await identity.call("POST", `/users/${await identity.person()}/api-keys`)).body;
  const found = await identity.sql`select hash from identity.api_keys where id = ${id}`;
  expect(found).toEqual([{ hash: new Bun.CryptoHasher("sha256").update(key).digest("hex") }]);
});

test("a key is stored once even if its statement runs several times at once, and not for an unknown owner", async () => {
  const { database } = identity.deps;
  const user_id = await identity.person();
  const newRow = () => ({
    id: identity.deps.newId(),
    name: "Sent twice",
    key_prefix: "p",
    hash: crypto.randomUUID(),
    created_at: new Date(),
    expires_at: new Date(Date.now() + 60_000),
    last_used_at: null,
    revoked_at: null,
  });
  type Row = ReturnType<typeof newRow>;
  const send = (owner: Parameters<typeof insertKey>[1], row: Row) =>
    database.run("create_api_key", (orm) => insertKey(orm, owner, row));
  const sent = Array.from({ length: 50 }, newRow);
  for (const row of sent) {
    const answers = await Promise.all(Array.from({ length: 4 }, () => send({ user_id }, row)));
    expect(answers).toEqual([true, true, true, true]);
  }
  const { keys } = (await identity.call("GET", `/users/${user_id}/api-keys?limit=100`)).body;
  const shown = sent.map(({ id, expires_at }) => ({
    id,
    expires_at: expires_at.toISOString(),
    last_used_at: null,
  }));
  expect(keys).toHaveLength(sent.length);
  expect(keys).toEqual(expect.arrayContaining(shown.map((key) => expect.objectContaining(key))));
  expect(await send({ user_id: identity.deps.newId() }, newRow())).toBe(false);
  expect(await send({ member_id: identity.deps.newId() }, newRow())).toBe(false);
});
