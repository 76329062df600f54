import { describe, expect, test } from "bun:test";
import { PathPrefixes, pathPrefixViolations } from "@ostiary/lib/domain/routes";
import fc from "fast-check";

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
