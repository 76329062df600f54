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

test.each([
  ["url", "uri"],
  ["user", "member"],
  ["same", "same"],
  ["a".repeat(100), `${"a".repeat(99)}b`],
])("%s is not close to %s", (a, b) => {
  expect(areClose(a, b)).toBe(false);
});
