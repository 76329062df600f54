import { expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { secretHashes } from "../../../apps/identity/secret-hashes.ts";
import { NO_PEPPERS } from "../../support/no-peppers.ts";

const [NEW, OLD] = ["n".repeat(32), "o".repeat(40)];
const plain = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (pepper: string, text: string) => createHmac("sha256", pepper).update(text).digest("hex");

/** Returns how each hash of a secret is made: `plain`, or with the `new` or the `old` pepper. */
function waysOf(peppers: Partial<typeof NO_PEPPERS>): string[] {
  const hashes = secretHashes({ ...NO_PEPPERS, ...peppers })("acme-k-2-x");
  return hashes.map((hash) => {
    if (hash === plain("acme-k-2-x")) return "plain";
    const digits = hash.split(":").at(-1);
    return digits === hmac(NEW, "acme-k-2-x") ? "new" : digits === hmac(OLD, "acme-k-2-x") ? "old" : hash;
  });
}

// ID-81, ID-82
test("a secret is stored with the current pepper, and found by every accepted hash", () => {
  expect(waysOf({})).toEqual(["plain"]);
  expect(waysOf({ previous: OLD })).toEqual(["plain", "old"]);
  expect(waysOf({ current: NEW })).toEqual(["new", "plain"]);
  expect(waysOf({ current: NEW, previous: OLD })).toEqual(["new", "old", "plain"]);
  expect(waysOf({ current: NEW, plainAccepted: false })).toEqual(["new"]);
  expect(waysOf({ current: NEW, previous: OLD, plainAccepted: false })).toEqual(["new", "old"]);
});

test("a hash starts with a short id of its pepper", () => {
  const [first] = secretHashes({ ...NO_PEPPERS, current: NEW })("one");
  const [second] = secretHashes({ ...NO_PEPPERS, current: NEW })("two");
  const [other] = secretHashes({ ...NO_PEPPERS, current: OLD })("one");
  expect(first).toMatch(/^hmac-sha256:[0-9a-f]{8}:[0-9a-f]{64}$/);
  expect(first.slice(0, 20)).toBe(second.slice(0, 20));
  expect(first.slice(0, 20)).not.toBe(other.slice(0, 20));
});

test("hashes equal HMAC-SHA-256 of RFC 2104, whatever was hashed before", () => {
  const hashes = secretHashes({ ...NO_PEPPERS, current: NEW });
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      fc.pre(text.isWellFormed());
      const [peppered, bare] = hashes(text);
      expect(peppered.endsWith(hmac(NEW, text))).toBe(true);
      expect(bare).toBe(plain(text));
    }),
  );
});
