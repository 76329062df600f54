import { describe, expect, test } from "bun:test";
import { service, useRegistry } from "./bed.ts";

const registry = useRegistry();

const before = {
  url: "http://a:1",
  rate_limits: { burst: { requests: 1, window_seconds: 1 }, gone: { requests: 1, window_seconds: 1 } },
  user: {
    routes: [
      { path: "/a", methods: ["GET", "POST"], rate_limit: "burst" },
      { path: "/b", methods: ["GET"] },
    ],
  },
};
const after = {
  url: "http://a:2",
  openapi: "/openapi.json",
  rate_limits: { burst: { requests: 2, window_seconds: 1 } },
  user: { routes: [{ path: "/a", methods: ["GET", "POST"], rate_limit: false }] },
  member: { routes: [{ path: "/b", methods: ["GET"], required_labels: ["x"] }] },
};
const ofService = { scope: null, method: null, path: null };
const changes = [
  { action: "changed", ...ofService, before: { url: "http://a:1" }, after: { url: "http://a:2" } },
  { action: "added", ...ofService, before: null, after: { openapi: "/openapi.json" } },
  {
    action: "changed",
    ...ofService,
    before: { rate_limits: { burst: { requests: 1, window_seconds: 1 } } },
    after: { rate_limits: { burst: { requests: 2, window_seconds: 1 } } },
  },
  {
    action: "changed",
    scope: "user",
    method: "GET",
    path: "/a",
    before: { rate_limit: "burst" },
    after: { rate_limit: false },
  },
  {
    action: "changed",
    scope: "user",
    method: "POST",
    path: "/a",
    before: { rate_limit: "burst" },
    after: { rate_limit: false },
  },
  {
    action: "added",
    scope: "member",
    method: "GET",
    path: "/b",
    before: null,
    after: { required_labels: ["x"] },
  },
  {
    action: "removed",
    ...ofService,
    before: { rate_limits: { gone: { requests: 1, window_seconds: 1 } } },
    after: null,
  },
  { action: "removed", scope: "user", method: "GET", path: "/b", before: {}, after: null },
];

describe("a dry run", () => {
  const dryRun = (services: Record<string, unknown>) =>
    registry.call("POST", "/apply?dry_run=true", { services });

  // RG-70, RG-71
  test("shows which services would be created, changed or unchanged, and writes nothing", async () => {
    await registry.apply({ a: before, same: service("/same") });
    const answer = await dryRun({ a: after, same: service("/same"), fresh: service("/fresh") });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      results: [
        { service: "a", status: "changed", revision: 1, changes },
        { service: "same", status: "unchanged", revision: 1, changes: [] },
        {
          service: "fresh",
          status: "created",
          revision: null,
          changes: [
            { action: "added", ...ofService, before: null, after: { url: "http://upstream:8080" } },
            { action: "added", scope: "user", method: "GET", path: "/fresh", before: null, after: {} },
          ],
        },
      ],
    });
    expect((await registry.call("GET", "/services/fresh/revisions")).status).toBe(404);
    expect((await registry.call("GET", "/services/a/revisions")).body.revisions).toHaveLength(1);
  });

  // RG-70
  test("runs every check of apply", async () => {
    await registry.put("owner", {
      ...service("/owned/{id}"),
      rate_limits: { common: { requests: 1, window_seconds: 1, shared: true } },
    });
    expect((await dryRun({ thief: service("/owned/{x}") })).body.error.code).toBe("ROUTE_CONFLICT");
    const other = { rate_limits: { common: { requests: 2, window_seconds: 1, shared: true } } };
    expect((await dryRun({ thief: { ...service("/thief"), ...other } })).status).toBe(422);
    expect((await dryRun({ "bad name": service("/x") })).status).toBe(422);
    expect((await registry.call("POST", "/apply?dry_run=true", "")).status).toBe(422);
  });
});

describe("the diff of two revisions", () => {
  const diff = (name: string, a: number, b: number) =>
    registry.call("GET", `/services/${name}/revisions/${a}/diff/${b}`);

  // RG-65, RG-66
  test("lists the changes from the first to the second", async () => {
    await registry.put("d", { ...before, user: { routes: before.user.routes.map(renamed) } });
    await registry.put("d", {
      ...after,
      user: { routes: after.user.routes.map(renamed) },
      member: undefined,
    });
    const { status, body } = await diff("d", 1, 2);
    expect(status).toBe(200);
    expect(body.changes.map(({ action, path }: Record<string, unknown>) => [action, path])).toEqual([
      ["changed", null],
      ["added", null],
      ["changed", null],
      ["changed", "/d/a"],
      ["changed", "/d/a"],
      ["removed", null],
      ["removed", "/d/b"],
    ]);
    expect((await diff("d", 1, 1)).body).toEqual({ changes: [] });
  });

  // RG-65
  test("treats a deleted service as empty", async () => {
    await registry.put("t", service("/t"));
    await registry.call("DELETE", "/services/t");
    const actions = async (a: number, b: number) =>
      (await diff("t", a, b)).body.changes.map((change: { action: string }) => change.action);
    expect(await actions(1, 2)).toEqual(["removed", "removed"]);
    expect(await actions(2, 1)).toEqual(["added", "added"]);
    expect(await actions(2, 2)).toEqual([]);
  });

  // RG-65
  test("is 404 for an unknown revision or service", async () => {
    await registry.put("one", service("/one"));
    for (const [name, a, b] of [
      ["one", 1, 2],
      ["one", 2, 1],
      ["none", 1, 1],
    ] as const) {
      expect((await diff(name, a, b)).status).toBe(404);
    }
    expect((await registry.call("GET", "/services/one/revisions/1/diff/x")).status).toBe(404);
  });
});

function renamed<Route extends { path: string }>(route: Route): Route {
  return { ...route, path: `/d${route.path}` };
}
