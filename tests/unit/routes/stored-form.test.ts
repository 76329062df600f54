import { describe, expect, test } from "bun:test";
import { joinPrefix } from "@ostiary/lib/domain/routes";
import { serviceWith, stored } from "./fixtures.ts";

// RG-16
test.each([
  [undefined, "/", "/"],
  ["/", "/", "/"],
  ["/org", "/", "/org"],
  ["/org", "/a", "/org/a"],
  ["/org/{x}", "/a/{y}", "/org/{x}/a/{y}"],
])("prefix %p and path %p join to %p", (prefix, path, full) => {
  expect(joinPrefix(prefix, path)).toBe(full);
});

// RG-49
describe("expansion", () => {
  test("makes one route for each method of a map, with the method's constraints and the route's upstream", () => {
    const config = {
      url: "http://widgets:8080",
      openapi: "/openapi.json",
      rate_limits: { burst: { requests: 5, window_seconds: 1, shared: true } },
      organization: {
        route_prefix: "/org/",
        routes: [
          {
            path: "/widgets/{id}",
            upstream: "/w/{path.id}",
            methods: {
              DELETE: { required_labels: ["admin"], rate_limit: "burst", audit: false },
              GET: null,
              POST: { rate_limit: false },
            },
          },
        ],
      },
    };
    expect(stored(config)).toEqual({
      url: "http://widgets:8080",
      openapi: "/openapi.json",
      rate_limits: { burst: { requests: 5, window_seconds: 1, shared: true } },
      organization: {
        routes: [
          { path: "/org/widgets/{id}", upstream: "/w/{path.id}", methods: ["GET"] },
          { path: "/org/widgets/{id}", upstream: "/w/{path.id}", methods: ["POST"], rate_limit: false },
          {
            path: "/org/widgets/{id}",
            upstream: "/w/{path.id}",
            methods: ["DELETE"],
            required_labels: ["admin"],
            rate_limit: "burst",
            audit: false,
          },
        ],
      },
    });
  });

  test("keeps a route with a list of methods, and adds no omitted field", () => {
    const routes = [
      { path: "/a", methods: ["POST", "GET"], rate_limit: { requests: 1, window_seconds: 2 }, audit: true },
      { path: "/b", methods: ["GET"] },
    ];
    expect(JSON.stringify(stored(serviceWith("user", routes)).user)).toBe(JSON.stringify({ routes }));
  });
});
