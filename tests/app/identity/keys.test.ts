/** Tests what the model of identity does not cover of keys: filters, the maximum age and concurrency. */
import { describe, expect, test } from "bun:test";
import { storeLastUses } from "../../../apps/identity/api-keys/last-use-writer.ts";
import { resolved } from "../../support/http/openapi.ts";
import { services } from "../../support/index.ts";
import { useIdentity, wrongFields } from "./bed.ts";

const real = services().postgres.real;
const identity = useIdentity({ poolMax: 20 });

const create = async (path: string, body?: object) => (await identity.call("POST", path, body)).body;
const rotate = (path: string, id: string, body?: unknown) =>
  identity.call("POST", `${path}/${id}/rotate`, body);
const listed = async (path: string) => (await identity.call("GET", `${path}?limit=100`)).body.keys;
const isValid = async (key: string) => Object(await identity.validate(key)).valid;
const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;

function expectConflict(response: Awaited<ReturnType<typeof rotate>>, value: string) {
  expect(response).toMatchObject({
    status: 409,
    body: { error: { code: "CONFLICT", details: { field: "status", value } } },
  });
}

// ID-62
test("a 409 for a key that was rotated names the new key, which can be rotated", async () => {
  const path = `/users/${await identity.person()}/api-keys`;
  const { id } = await create(path);
  const next = (await rotate(path, id, { overlap_seconds: 3600 })).body;
  const again = await rotate(path, id);
  expectConflict(again, "rotated");
  expect(again.body.error.message).toContain(next.id);
  expect((await rotate(path, next.id)).status).toBe(201);
});

// ID-58
describe("with APIKEY_MAX_AGE_SECONDS", () => {
  const MAX_AGE_SECONDS = 3600;
  const strict = useIdentity({ apiKeyMaxAgeSeconds: MAX_AGE_SECONDS });

  test("a lifetime is required, and may not be longer", async () => {
    const path = `/users/${await strict.person()}/api-keys`;
    for (const body of [undefined, {}, { name: "CI" }, { expires_in_seconds: MAX_AGE_SECONDS + 1 }]) {
      const response = await strict.call("POST", path, body);
      expect(wrongFields(response)).toEqual(["expires_in_seconds"]);
      expect(response.body.error.details.fields[0].message).toContain("whole number from 60 to 3600");
    }
    for (const expires_in_seconds of [60, MAX_AGE_SECONDS]) {
      expect((await strict.call("POST", path, { expires_in_seconds })).status).toBe(201);
    }
    expect((await strict.call("GET", path)).body.keys).toHaveLength(2);
  });

  test("the OpenAPI description has the maximum lifetime and a required body", async () => {
    for (const [bed, required, maximum] of [
      [identity, false, 315_360_000],
      [strict, true, MAX_AGE_SECONDS],
    ] as const) {
      const { body: document } = await bed.call("GET", "/swagger/json");
      const { requestBody } = document.paths["/members/{member_id}/api-keys"].post;
      const shape = resolved(document, requestBody.content["application/json"].schema);
      expect(requestBody.required ?? false).toBe(required);
      expect(shape.required ?? []).toEqual(required ? ["expires_in_seconds"] : []);
      expect(shape.properties).toMatchObject({ expires_in_seconds: { minimum: 60, maximum } });
    }
  });
});

// ID-58
test("a key with no expiry, or with a longer one than APIKEY_MAX_AGE_SECONDS, is rotated to one within it", async () => {
  const path = `/users/${await identity.person()}/api-keys`;
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

/** Creates an owner. Returns the path of the owner's keys, and functions that create, use and list keys. */
async function newOwner() {
  const { ownerMember } = await identity.organization();
  const path = `/members/${ownerMember}/api-keys`;
  return {
    path,
    create: async (name: string, expires_in_seconds?: number) =>
      (await identity.call("POST", path, { name, expires_in_seconds })).body,
    async use({ key }: { key: string }) {
      expect(await identity.validate(key)).toMatchObject({ valid: true });
      await storeLastUses(identity.deps);
    },
    async names(query: string) {
      const { status, body } = await identity.call("GET", `${path}?${query}`);
      expect(status).toBe(200);
      return body.keys.map(({ name }: { name: string }) => name);
    },
  };
}

// ID-64
test("unused_for_seconds finds keys by their last use, or by their creation if they were never used", async () => {
  const { create, use, names } = await newOwner();
  const used = await create("used");
  await create("never used");
  identity.clock.advance(100_000);
  await create("new");
  await use(used);
  identity.clock.advance(49_999);
  expect(await names("unused_for_seconds=150")).toEqual([]);
  expect(await names("unused_for_seconds=50")).toEqual(["never used"]);
  identity.clock.advance(1);
  expect(await names("unused_for_seconds=150")).toEqual(["never used"]);
  expect(await names("unused_for_seconds=50")).toEqual(["used", "never used", "new"]);
  expect(await names("unused_for_seconds=0")).toEqual(["used", "never used", "new"]);
  expect(await names("unused_for_seconds=999999999")).toEqual([]);
});

// ID-64
test("expires_within_seconds finds keys that expire soon, and no keys without an expiry", async () => {
  const { create, names } = await newOwner();
  await create("minute", 60);
  await create("hour", 3600);
  await create("endless");
  expect(await names("expires_within_seconds=59")).toEqual([]);
  expect(await names("expires_within_seconds=60")).toEqual(["minute"]);
  expect(await names("expires_within_seconds=3600")).toEqual(["minute", "hour"]);
  expect(await names("expires_within_seconds=999999999")).toEqual(["minute", "hour"]);
  identity.clock.advance(60_000);
  expect(await names("expires_within_seconds=3600")).toEqual(["hour"]);
});

// ID-64
test("both filters can be combined, and neither finds revoked, expired or rotated keys", async () => {
  const { path, create, use, names } = await newOwner();
  const [revoked, rotated, used] = [
    await create("revoked", 3600),
    await create("rotated", 3600),
    await create("used", 3600),
  ];
  await create("expired", 60);
  await create("stale", 3600);
  await create("stale for ever");
  identity.clock.advance(600_000);
  await identity.call("DELETE", `${path}/${revoked.id}`);
  await identity.call("POST", `${path}/${rotated.id}/rotate`);
  await use(used);
  const stale = "unused_for_seconds=300";
  expect(await names(stale)).toEqual(["stale", "stale for ever"]);
  expect(await names(`${stale}&expires_within_seconds=3600`)).toEqual(["stale"]);
  expect(await names("expires_within_seconds=3600")).toEqual(["used", "stale", "rotated"]);
  expect(await names("")).toHaveLength(7);
});

// ID-64
test("invalid values, repeated parameters and unknown parameters are 422", async () => {
  const { path } = await newOwner();
  for (const name of ["unused_for_seconds", "expires_within_seconds"]) {
    for (const value of ["", "-1", "1.5", "1e3", "x", "%20", "0x10", "1000000000", "null", "%00", "٣"]) {
      expect(wrongFields(await identity.call("GET", `${path}?${name}=${value}`))).toEqual([name]);
    }
    expect(wrongFields(await identity.call("GET", `${path}?${name}=1&${name}=1`))).toEqual([name]);
  }
  const all = await identity.call("GET", `${path}?unused_for_seconds=x&expires_within_seconds=y&limit=0`);
  expect(wrongFields(all).toSorted()).toEqual(["expires_within_seconds", "limit", "unused_for_seconds"]);
  expect(wrongFields(await identity.call("GET", `${path}?unused_for_days=1`))).toEqual(["unused_for_days"]);
});

describe.skipIf(!real)("under concurrency", () => {
  // ID-62
  test("one of twenty rotations of a service account's key succeeds, under both paths", async () => {
    for (let round = 0; round < 3; round++) {
      const { id } = await identity.organization();
      const account = (await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" }))
        .body;
      const paths = [
        `/organizations/${id}/service-accounts/${account.id}/api-keys`,
        `/members/${account.member_id}/api-keys`,
      ];
      const old = await create(paths[0] ?? "");
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          rotate(paths[index % 2] ?? "", old.id, { overlap_seconds: index % 3 }),
        ),
      );
      const [won, ...more] = responses.filter(({ status }) => status === 201);
      expect(more).toEqual([]);
      for (const response of responses) if (response !== won) expectConflict(response, "rotated");
      expect(await isValid(won?.body.key)).toBe(true);
      expect(await listed(paths[1] ?? "")).toHaveLength(2);
    }
  });

  test("if a member is removed while its keys are rotated, none is valid afterwards", async () => {
    for (let round = 0; round < 4; round++) {
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
