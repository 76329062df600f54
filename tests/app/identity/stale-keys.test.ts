import { expect, test } from "bun:test";
import { storeLastUses } from "@ostiary/identity/api-keys/last-use-writer";
import { useIdentity } from "./bed.ts";
import { wrongFields } from "./harness.ts";

const identity = useIdentity();

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

test("pages have only matching keys, up to the requested limit", async () => {
  const { path, create, use } = await newOwner();
  const made = [];
  for (let index = 0; index < 12; index++) made.push(await create(`key ${index}`));
  identity.clock.advance(1_000_000);
  for (const key of made.filter((_, index) => index % 2 === 0)) await use(key);
  const found: string[] = [];
  for (let after = ""; ; after = `&starting_after=${found.at(-1)}`) {
    const { body } = await identity.call("GET", `${path}?unused_for_seconds=10&limit=4${after}`);
    expect(body.keys.length).toBeLessThanOrEqual(4);
    found.push(...body.keys.map(({ id }: { id: string }) => id));
    if (!body.has_more) break;
  }
  expect(found).toEqual(made.filter((_, index) => index % 2 === 1).map(({ id }) => id));
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
