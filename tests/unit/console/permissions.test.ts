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
test("readers alone write nothing", () => {
  const roles = ["reader", "publisher", "admin"] as const;
  expect(roles.filter((role) => mayWrite(operator(role)))).toEqual(["publisher", "admin"]);
});

// RG-132
describe("what keeps an operator from a write", () => {
  test("is nothing for an admin", () => {
    expect(outOfBounds(operator("admin"), "any", { before: config("/any"), after: null })).toEqual([]);
  });

  test("is the whole service when its name is not the publisher's", () => {
    expect(outOfBounds(TEAM, "other", { before: config("/own/a"), after: config("/other") })).toEqual([
      { service: "other" },
    ]);
  });

  test.each<[string, StoredServiceConfig | null, StoredServiceConfig | null, string[]]>([
    ["a new service", null, config("/own/a"), []],
    ["a deletion", config("/own/a"), null, []],
    ["a deletion of a foreign path", config("/other"), null, ["/other"]],
    ["a path that would be new", config("/own/a"), config("/other"), ["/other"]],
    ["a path before and after", config("/other"), config("/other"), ["/other"]],
    ["two paths", config("/a"), config("/b"), ["/a", "/b"]],
    ["a new test of a foreign path", config("/own/a"), config("/own/a", "/other"), ["/other"]],
    ["an old test of a foreign path", config("/own/a", "/other"), config("/own/a"), []],
    ["a path that only begins alike", null, config("/owner"), ["/owner"]],
  ])("is each path outside its prefixes, once: %s", (_, before, after, paths) => {
    expect(outOfBounds(TEAM, "own-a", { before, after })).toEqual(
      paths.map((path) => ({ service: "own-a", path })),
    );
  });

  test("is nothing when the bounds have no paths", () => {
    const everywhere = operator("publisher", { services: ["*"] });
    expect(outOfBounds(everywhere, "any", { before: null, after: config("/any") })).toEqual([]);
  });
});
