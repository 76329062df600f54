import { describe, expect, test } from "bun:test";
import type { CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { mayWrite, outOfBounds } from "../../../apps/console/operator/permissions.ts";

const operator = (role: CurrentOperator["role"], bounds: Partial<CurrentOperator> = {}): CurrentOperator => ({
  name: "team",
  role,
  services: null,
  paths: null,
  ...bounds,
});
const TEAM = operator("publisher", { services: ["own-*"], paths: ["/own"] });

const config = (path: string, testPath?: string): StoredServiceConfig => ({
  url: "http://own:1",
  user: { routes: [{ path, methods: ["GET", "POST"] }] },
  ...(testPath !== undefined && {
    tests: [{ name: "test", method: "GET", path: testPath, expect: { status: 404 } }],
  }),
});

// RG-131
test("every role except reader may write", () => {
  const roles = ["reader", "publisher", "admin"] as const;
  expect(roles.filter((role) => mayWrite(operator(role)))).toEqual(["publisher", "admin"]);
});

// RG-132
describe("the list of what is outside an operator's bounds", () => {
  test("is empty for an admin", () => {
    expect(outOfBounds(operator("admin"), "any", { before: config("/any"), after: null })).toEqual([]);
  });

  test("contains the whole service if its name is outside the bounds", () => {
    expect(outOfBounds(TEAM, "other", { before: config("/own/a"), after: config("/other") })).toEqual([
      { service: "other" },
    ]);
  });

  test.each<[string, StoredServiceConfig | null, StoredServiceConfig | null, string[]]>([
    ["a new service", null, config("/own/a"), []],
    ["a deletion", config("/own/a"), null, []],
    ["a deletion of a foreign path", config("/other"), null, ["/other"]],
    ["a new path", config("/own/a"), config("/other"), ["/other"]],
    ["an unchanged path", config("/other"), config("/other"), ["/other"]],
    ["two paths", config("/a"), config("/b"), ["/a", "/b"]],
    ["a new test of a foreign path", config("/own/a"), config("/own/a", "/other"), ["/other"]],
    ["an old test of a foreign path", config("/own/a", "/other"), config("/own/a"), []],
    ["a path that starts with the same letters", null, config("/owner"), ["/owner"]],
  ])("contains each path outside the prefixes once: %s", (_, before, after, paths) => {
    expect(outOfBounds(TEAM, "own-a", { before, after })).toEqual(
      paths.map((path) => ({ service: "own-a", path })),
    );
  });

  test("is empty if the bounds do not limit paths", () => {
    const everywhere = operator("publisher", { services: ["*"] });
    expect(outOfBounds(everywhere, "any", { before: null, after: config("/any") })).toEqual([]);
  });
});
