import { describe, expect, test } from "bun:test";
import { PathPrefixes, pathPrefixViolations } from "@ostiary/lib/domain/routes";
import fc from "fast-check";

// RG-114
describe("the paths at and below a prefix", () => {
  test.each([
    ["/", "/", true],
    ["/org/widgets", "/org/widgets", true],
    ["/org/widgets", "/org/widgets/{id}/parts", true],
    ["/org/widgets", "/org/widgets-old", false],
    ["/org/widgets", "/org/{kind}", false],
    ["/org/widgets", "/{any}/widgets", false],
    ["/teams/{team}/widgets", "/teams/blue/widgets/{id}", true],
    ["/teams/{team}/widgets", "/teams/blue/gadgets", false],
  ])("of %s include %s: %p", (prefix, path, covered) => {
    expect(new PathPrefixes([prefix]).cover(path)).toBe(covered);
  });

  test("of several prefixes are those of each prefix, and no mixture of two prefixes", () => {
    const prefixes = new PathPrefixes(["/a/{x}/c", "/a/b/d", "/e"]);
    expect(["/a/b/c", "/a/b/d", "/e/f", "/a/z/c"].every((path) => prefixes.cover(path))).toBe(true);
    expect(["/a/z/d", "/a/b", "/a/b/e"].some((path) => prefixes.cover(path))).toBe(false);
  });

  test("include a route exactly if they include all its requests", () => {
    const segment = fc.constantFrom("a", "b", "{p}", "{q}");
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
  });

  test.each(["", "org", "/Org", "/org/", "/org//x", "/org/../x", "/org/{", "/org/a b", "/org?x"])(
    "%j is not a valid prefix",
    (prefix) => {
      expect(pathPrefixViolations(prefix)).not.toEqual([]);
    },
  );
});
