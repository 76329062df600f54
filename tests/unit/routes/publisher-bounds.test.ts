import { describe, expect, test } from "bun:test";
import {
  fitsPattern,
  PathPrefixes,
  PublisherBounds,
  pathPrefixViolations,
  publishedBy,
} from "@ostiary/lib/domain/routes";
import fc from "fast-check";

// RG-114
test.each<{ urls: string[] | null }>([{ urls: null }, { urls: [] }, { urls: ["*:8080"] }])(
  "an address without a canonical form, such as that of an old revision, is outside the bounds $urls",
  ({ urls }) => {
    const bounds = new PublisherBounds({ services: ["mine"], paths: null, urls });
    const writes = new Map([["mine", { url: "http://[:8080" }]]);
    expect(bounds.outside(writes, publishedBy(writes))).toEqual([{ service: "mine", url: "http://[:8080" }]);
  },
);

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

// RG-114
describe("the paths at and below a prefix", () => {
  test("include a route exactly if they include all its requests", () => {
    const segment = fc.constantFrom("a", "b", "ab", "{p}", "{q}");
    const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join("/")}`);
    // Each param gets a value that no prefix contains, so the result stands for all requests of the route.
    const widest = (route: string) =>
      route
        .replace(/\{\w\}/g, "unnamed")
        .split("/")
        .filter(Boolean);
    const isWithin = (prefix: string, route: string) =>
      prefix
        .split("/")
        .filter(Boolean)
        .every((expected, index) => {
          const given = widest(route)[index];
          return given !== undefined && (expected.startsWith("{") || expected === given);
        });
    fc.assert(
      fc.property(fc.array(path, { maxLength: 5 }), path, (prefixes, route) => {
        const expected = prefixes.some((prefix) => isWithin(prefix, route));
        expect(new PathPrefixes(prefixes).cover(route)).toBe(expected);
      }),
    );
    expect(new PathPrefixes(["/a"]).cover("/ab")).toBe(false);
  });

  test.each(["", "org", "/Org", "/org/", "/org//x", "/org/../x", "/org/{", "/org/a b", "/org?x"])(
    "%j is not a valid prefix",
    (prefix) => {
      expect(pathPrefixViolations(prefix)).not.toEqual([]);
    },
  );
});
