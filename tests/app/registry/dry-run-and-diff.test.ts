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
/** A change of the service itself, or of a route: its scope, method and path. */
type RoutePlace = [scope: string, method: string, path: string] | null;
const change = (action: string, place: RoutePlace, before: object | null, after: object | null) => {
  const [scope, method, path] = place ?? [null, null, null];
  return { action, scope, method, path, before, after };
};
const burst = (requests: number) => ({ rate_limits: { burst: { requests, window_seconds: 1 } } });
const gone = { rate_limits: { gone: { requests: 1, window_seconds: 1 } } };
const changes = [
  change("changed", null, { url: "http://a:1" }, { url: "http://a:2" }),
  change("added", null, null, { openapi: "/openapi.json" }),
  change("changed", null, burst(1), burst(2)),
  change("changed", ["user", "GET", "/a"], { rate_limit: "burst" }, { rate_limit: false }),
  change("changed", ["user", "POST", "/a"], { rate_limit: "burst" }, { rate_limit: false }),
  change("added", ["member", "GET", "/b"], null, { required_labels: ["x"] }),
  change("removed", null, gone, null),
  change("removed", ["user", "GET", "/b"], {}, null),
];

describe("a dry run", () => {
  const dryRun = (services: Record<string, unknown>) =>
    registry.call("POST", "/apply?dry_run=true", { services });

  // RG-70, RG-71
  test("shows which services would be created, changed or unchanged, and writes nothing", async () => {
    await registry.apply({ a: before, same: service("/same") });
    const response = await dryRun({ a: after, same: service("/same"), fresh: service("/fresh") });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      results: [
        { service: "a", status: "changed", revision: 1, changes },
        { service: "same", status: "unchanged", revision: 1, changes: [] },
        {
          service: "fresh",
          status: "created",
          revision: null,
          changes: [
            change("added", null, null, { url: "http://upstream:8080" }),
            change("added", ["user", "GET", "/fresh"], null, {}),
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
