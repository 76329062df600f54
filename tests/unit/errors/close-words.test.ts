import { expect, test } from "bun:test";
import { areClose, meantWord } from "@ostiary/lib/domain/errors";

test.each([
  ["organisation", "organization"],
  ["AUDIT_ENABELD", "AUDIT_ENABLED"],
  ["thing", "things"],
  ["mehtods", "methods"],
])("%s is close to %s", (typed, meant) => {
  expect(meantWord(typed, ["url", meant])).toBe(meant);
});

test("the closest word is meant, not the first one that is close", () => {
  expect(meantWord("STORE_CRT_FILE", ["STORE_CA_FILE", "STORE_CERT_FILE"])).toBe("STORE_CERT_FILE");
});

test.each([
  ["url", "uri"],
  ["user", "member"],
  ["same", "same"],
  ["a".repeat(100), `${"a".repeat(99)}b`],
])("%s is not close to %s", (a, b) => {
  expect(areClose(a, b)).toBe(false);
});
