import { beforeAll, describe, expect, test } from "bun:test";
import { fields, useRegistry } from "./bed.ts";

const registry = useRegistry();
beforeAll(async () => {
  await registry.apply({
    widgets: {
      url: "http://widgets:8080",
      timeout_ms: 5_000,
      rate_limits: { burst: { requests: 5, window_seconds: 1 } },
      organization: {
        route_prefix: "/org",
        routes: [
          {
            path: "/widgets/{widget_id}",
            upstream: "/organizations/{subject.organization_id}/widgets/{path.widget_id}",
            methods: {
              GET: { rate_limit: "burst" },
              DELETE: { required_labels: ["widgets:write", "admin"], audit: false },
            },
          },
          { path: "/widgets/new", methods: ["GET"] },
        ],
      },
      public: { routes: [{ path: "/", methods: ["GET", "POST"] }] },
    },
  });
});

const find = (method: string, path: string) =>
  registry.call("GET", `/routes?${new URLSearchParams({ method, path })}`);

describe("the look-up of a route", () => {
  // RG-110
  test("returns the limits of a plan", async () => {
    const limits = async (rate_limit: unknown, plan: string) => {
      const routes = [
        { path: "/planned", methods: ["GET"], ...(rate_limit !== undefined && { rate_limit }) },
      ];
      const rate_limits = {
        quota: { requests: 9, period: "month", plans: { pro: { requests: 99 }, free: false } },
      };
      await registry.put("planned", { url: "http://planned:8080", rate_limits, organization: { routes } });
      return (await registry.call("GET", `/routes?method=GET&path=/planned&plan=${plan}`)).body.limits;
    };
    const burst = { requests: 5, window_seconds: 1 };
    const quota = { policy: "quota", requests: 9, period: "month" };
    expect(await limits(["quota", burst], "pro")).toEqual([
      { ...quota, requests: 99 },
      { policy: null, ...burst },
    ]);
    expect(await limits("quota", "other")).toEqual([quota]);
    expect(await limits("quota", "free")).toEqual([]);
    expect(await limits(burst, "pro")).toEqual([{ policy: null, ...burst }]);
    expect(await limits(false, "pro")).toEqual([]);
    expect(await limits(undefined, "pro")).toBeUndefined();
    const wrong = await registry.call("GET", "/routes?method=GET&path=/planned&plan=Not%20a%20plan");
    expect(wrong.status).toBe(422);
    expect(fields(wrong).map(({ path }) => path)).toEqual(["plan"]);
  });

  // RG-73
  test("returns the route with everything that applies to the request", async () => {
    const response = await find("GET", "/org/widgets/42");
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      service: "widgets",
      scope: "organization",
      path: "/org/widgets/{widget_id}",
      method: "GET",
      params: { widget_id: "42" },
      required_labels: null,
      rate_limit: "burst",
      audit: false,
      timeout_ms: 5_000,
      max_body_bytes: null,
      upstream: "/organizations/{subject.organization_id}/widgets/{path.widget_id}",
    });
  });

  // RG-73
  test("prefers literals, matches each method separately, and parses the path like the gateway", async () => {
    expect((await find("GET", "/org/widgets/new")).body.path).toBe("/org/widgets/new");
    expect((await find("DELETE", "/org/widgets/new")).body.path).toBe("/org/widgets/{widget_id}");
    expect((await find("GET", "/org/x/../widgets/4%C3%A9?query=1#x")).body.params).toEqual({
      widget_id: "4%C3%A9",
    });
    expect((await find("GET", "/org/widgets/a b")).body.params).toEqual({ widget_id: "a%20b" });
  });

  // RG-74, ER-24
  test("is 404 with the nearest routes if no route matches", async () => {
    const response = await find("PUT", "/org/widgets/42");
    expect(response.status).toBe(404);
    expect(response.body.error).toMatchObject({
      code: "NOT_FOUND",
      details: { resource: "route", id: "PUT /org/widgets/42" },
    });
    expect(response.body.error.details.nearest[0]).toEqual({
      service: "widgets",
      scope: "organization",
      method: expect.any(String),
      path: "/org/widgets/{widget_id}",
    });
    expect((await find("GET", "/nothing/like/it")).body.error.details.nearest).toEqual([]);
  });

  // RG-3
  test.each([
    ["", ["method", "path"]],
    ["?path=/", ["method"]],
    ["?method=TRACE&path=/", ["method"]],
    ["?method=GET&path=", ["path"]],
    ["?method=GET&path=/&scope=user", ["scope"]],
  ])("refuses the query %j", async (query, paths) => {
    const response = await registry.call("GET", `/routes${query}`);
    expect(response.status).toBe(422);
    expect(
      fields(response)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(paths);
  });
});
