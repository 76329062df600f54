import { expect, test } from "bun:test";
import { fitsPattern } from "@ostiary/lib/domain/routes";
import fc from "fast-check";

// RG-114
test("a star in a pattern matches the same as .* in a regular expression", () => {
  const text = (...letters: string[]) =>
    fc.array(fc.constantFrom(...letters), { maxLength: 8 }).map((found) => found.join(""));
  fc.assert(
    fc.property(text("a", "A", "*"), text("a", "A"), (pattern, name) => {
      const meant = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
      expect(fitsPattern(pattern, name)).toBe(meant.test(name));
    }),
  );
});

// RG-114
test("a pattern of many stars is matched without exponential time", () => {
  expect(fitsPattern(`${"*a".repeat(63)}*b`, "a".repeat(128))).toBe(false);
});
