import { describe, expect, test } from "bun:test";
import type { CurrentOperator } from "@ostiary/lib/contracts/registry-api";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { mayWrite, outOfBounds } from "../../../apps/console/operator/permissions.ts";

const operator = (role: CurrentOperator["role"], bounds: Partial<CurrentOperator> = {}): CurrentOperator => ({
  name: "team",
  role,
  services: null,
  paths: null,
  urls: null,
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

/** Returns the parts outside the bounds of a write to `service`, published as `before`, that leaves `after`. */
function outside(
  who: CurrentOperator,
  service: string,
  before: StoredServiceConfig | null,
  after: StoredServiceConfig | null,
) {
  return outOfBounds(who, service, {
    published: before === null ? {} : { [service]: before },
    restored: after,
  });
}

// RG-132
describe("the list of what is outside an operator's bounds", () => {
  test("is empty for an admin", () => {
    expect(outside(operator("admin"), "any", config("/any"), null)).toEqual([]);
  });

  test("contains the whole service if its name is outside the bounds", () => {
    expect(outside(TEAM, "other", config("/own/a"), config("/other"))).toEqual([{ service: "other" }]);
  });

  test.each<[string, StoredServiceConfig | null, StoredServiceConfig | null, string[]]>([
    ["a deletion", config("/own/a"), null, []],
    ["a deletion of a foreign path", config("/other"), null, ["/other"]],
    ["two paths", config("/a"), config("/b"), ["/a", "/b"]],
    ["a new test of a foreign path", config("/own/a"), config("/own/a", "/other"), ["/other"]],
    ["an old test of a foreign path", config("/own/a", "/other"), config("/own/a"), []],
  ])("contains each path outside the prefixes once: %s", (_, before, after, paths) => {
    expect(outside(TEAM, "own-a", before, after)).toEqual(paths.map((path) => ({ service: "own-a", path })));
  });

  test("contains the address that a restore sets, if the publisher has no urls", () => {
    const keeper = operator("publisher", { urls: [] });
    const same = config("/own");
    expect(outside(keeper, "own-a", same, null)).toEqual([]);
    expect(outside(keeper, "own-a", same, same)).toEqual([{ service: "own-a", url: "http://own:1" }]);
  });

  test("contains the address and the shared policy of another service", () => {
    const shared = { rate_limits: { partner: { requests: 1, window_seconds: 1, shared: true } } };
    const published = { other: { ...config("/other"), ...shared } };
    const restored = { ...config("/own"), ...shared };
    const team = operator("publisher", { services: ["own-*"], urls: ["http://own:*"] });
    expect(outOfBounds(team, "own-a", { published, restored })).toEqual([
      { service: "own-a", url: "http://own:1" },
      { service: "own-a", policy: "partner" },
    ]);
  });
});
