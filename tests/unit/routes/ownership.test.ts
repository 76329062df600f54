/** Tests of the rules between services: the owner of a route, and shared policies (RG-28 to RG-33). */
import { describe, expect, test } from "bun:test";
import {
  findPolicyConflicts,
  findRouteConflicts,
  ownedRoutes,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import { pathsService, serviceWith, storedServices } from "./fixtures.ts";

function owners(services: Map<string, StoredServiceConfig>) {
  return [...services].flatMap(([name, config]) => [...ownedRoutes(name, config)]);
}

// RG-28, RG-29
describe("ownership of routes", () => {
  const current = owners(storedServices({ owner: pathsService("/w/{id}", "/w/new") }));
  const conflicts = (service: unknown, name = "widgets") =>
    findRouteConflicts(storedServices({ [name]: service }), current);

  test("refuses a method and shape that another service owns, and names its path", () => {
    expect(conflicts(pathsService("/w/{other}", "/w/new"))).toEqual([
      { service: "widgets", method: "GET", path: "/w/{other}", owner: "owner", owner_path: "/w/{id}" },
      { service: "widgets", method: "GET", path: "/w/new", owner: "owner", owner_path: "/w/new" },
    ]);
  });

  test.each([
    ["another method", serviceWith("public", [{ path: "/w/{id}", methods: ["POST"] }])],
    ["a literal beside a param", pathsService("/w/other")],
    ["a param beside a literal", pathsService("/{a}/new")],
    ["another depth", pathsService("/w/{id}/parts", "/w")],
  ])("accepts %s", (_, service) => {
    expect(conflicts(service)).toEqual([]);
  });

  // RG-27
  test("lets a service have two routes of one shape", () => {
    expect(conflicts(pathsService("/x/{a}", "/x/{b}"))).toEqual([]);
  });

  // RG-31
  test("frees the routes that an incoming owner removes", () => {
    const incoming = storedServices({ widgets: pathsService("/w/new"), owner: pathsService("/w/{id}") });
    expect(findRouteConflicts(incoming, current)).toEqual([]);
  });
});

// RG-32, RG-33
describe("shared policies", () => {
  const withPolicy = (policy: object, name = "burst") => ({
    ...pathsService(),
    rate_limits: { [name]: policy },
  });
  const local = { requests: 1, window_seconds: 60 };
  const shared = { ...local, shared: true };
  const conflicts = (here: object, there: object, name?: string) =>
    findPolicyConflicts(
      storedServices({ here: withPolicy(here) }),
      storedServices({ there: withPolicy(there, name), elsewhere: pathsService() }),
    );

  test.each([
    ["one shared policy with the same numbers", shared, shared],
    ["local policies that differ", local, { requests: 9, window_seconds: 9 }],
    ["a local policy with shared: false", { ...local, shared: false }, local],
  ])("accepts %s", (_, here, there) => {
    expect(conflicts(here, there)).toEqual([]);
  });

  test.each([
    ["other requests", shared, { ...shared, requests: 2 }, /2 in 60 s in service there/],
    ["another window", shared, { ...shared, window_seconds: 61 }, /1 in 61 s in service there/],
    ["shared here and shared: false there", shared, { ...local, shared: false }, /local in service there/],
    ["shared: false here and shared there", { ...local, shared: false }, shared, /shared in service there/],
  ])("refuses %s", (_, here, there, message) => {
    expect(conflicts(here, there)).toEqual([
      { service: "here", name: "burst", message: expect.stringMatching(message) },
    ]);
  });

  test("lets the only service with a shared policy change the numbers", () => {
    expect(conflicts(shared, shared, "other")).toEqual([]);
    const before = storedServices({ here: withPolicy(shared) });
    const after = storedServices({ here: withPolicy({ ...shared, requests: 7 }) });
    expect(findPolicyConflicts(after, before)).toEqual([]);
  });

  test("lets services that are applied together change a shared policy together", () => {
    const next = { ...shared, requests: 7 };
    const before = storedServices({ a: withPolicy(shared), b: withPolicy(shared) });
    expect(findPolicyConflicts(storedServices({ a: withPolicy(next), b: withPolicy(next) }), before)).toEqual(
      [],
    );
    expect(findPolicyConflicts(storedServices({ a: withPolicy(next) }), before)).toHaveLength(1);
  });
});
