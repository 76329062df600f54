import { expect, test } from "bun:test";
import { storeLastUses } from "../../../apps/identity/api-keys/last-use-writer.ts";
import { type IdentityBed, ROLES, useIdentity } from "./bed.ts";

/** A service without peppers. {@link withPeppers} starts others on the same database. */
const plain = useIdentity();
const [FIRST, SECOND] = ["first pepper", "second pepper"].map((text) => text.padEnd(32, "*"));
const withPeppers = (peppers: Parameters<IdentityBed["restarted"]>[1]) => plain.restarted(ROLES, peppers);

/** Creates one secret of each kind: a key, a session and an invite token. */
async function newSecrets(identity: IdentityBed) {
  const { id, owner } = await identity.organization();
  const create = async (path: string, body?: object) => (await identity.call("POST", path, body)).body;
  const key = await create(`/users/${owner}/api-keys`);
  return {
    key_id: String(key.id),
    key: String(key.key),
    session: String((await create(`/users/${owner}/organizations/${id}/session`)).token),
    invite: String((await create(`/organizations/${id}/invites`, { max_uses: null })).token),
  };
}
type Secrets = Awaited<ReturnType<typeof newSecrets>>;

async function accepts(identity: IdentityBed, { key, session, invite }: Secrets) {
  const person = await identity.person();
  const redeemed = await identity.call("POST", `/users/${person}/invites/redeem`, { token: invite });
  const valid = async (text: string) => Object(await identity.validate(text)).valid;
  return { key: await valid(key), session: await valid(session), invite: redeemed.status === 201 };
}
const ALL = { key: true, session: true, invite: true };
const NONE = { key: false, session: false, invite: false };

async function hashOf({ key_id }: Secrets): Promise<string> {
  const found = await plain.sql`select hash from identity.api_keys where id = ${key_id}`;
  return String(found[0]?.hash);
}

const PLAIN = /^[0-9a-f]{64}$/;

// ID-82
test("secrets from before a pepper stay valid, and a key is rehashed with the pepper when it is used", async () => {
  const [used, unused] = [await newSecrets(plain), await newSecrets(plain)];
  const peppered = await withPeppers({ current: FIRST });
  expect(await accepts(peppered, used)).toEqual(ALL);
  expect(await hashOf(used)).toMatch(PLAIN);
  await storeLastUses(peppered.deps);
  expect(await hashOf(used)).toBe(peppered.deps.secrets.hashesOf(used.key)[0]);
  expect(await hashOf(unused)).toMatch(PLAIN);
  expect(await accepts(peppered, used)).toEqual(ALL);

  const strict = await withPeppers({ current: FIRST, plainAccepted: false });
  expect(await accepts(strict, used)).toEqual({ key: true, session: false, invite: false });
  expect(await accepts(strict, unused)).toEqual(NONE);
  expect(await accepts(strict, await newSecrets(peppered))).toEqual(ALL);
});

// ID-82
test("a replica that knows the next pepper as the previous one accepts secrets that others hash with it", async () => {
  const ahead = await withPeppers({ current: FIRST });
  const made = await newSecrets(ahead);
  expect(await accepts(plain, made)).toEqual(NONE);
  expect(await accepts(await withPeppers({ previous: FIRST }), made)).toEqual(ALL);
  expect(await accepts(await withPeppers({ current: SECOND }), made)).toEqual(NONE);
});

// ID-82
test("after a change of peppers, a used key is rehashed, and an unused one is invalid without its pepper", async () => {
  const first = await withPeppers({ current: FIRST });
  const [used, unused] = [await newSecrets(first), await newSecrets(first)];
  const both = await withPeppers({ current: SECOND, previous: FIRST });
  expect(await accepts(both, used)).toEqual(ALL);
  await storeLastUses(both.deps);
  const second = await withPeppers({ current: SECOND });
  expect(await accepts(second, used)).toEqual({ key: true, session: false, invite: false });
  expect(await accepts(second, unused)).toEqual(NONE);
  expect(await accepts(both, unused)).toEqual(ALL);

  const back = await withPeppers({ previous: SECOND });
  plain.clock.advance(1);
  expect(await accepts(back, used)).toMatchObject({ key: true });
  await storeLastUses(back.deps);
  expect(await hashOf(used)).toMatch(PLAIN);
});
