import { describe, expect, test } from "bun:test";
import { hasWords, wordsOf } from "@ostiary/lib/page/search";
import { countScopes, routeRows, type Services } from "../../../apps/console/routes/rows.ts";

const services: Services = {
  widgets: {
    url: "http://widgets:1",
    rate_limits: { burst: { requests: 1, window_seconds: 1 } },
    member: { routes: [{ path: "/me", methods: ["GET"], audit: true }] },
    public: { routes: [{ path: "/catalog", methods: ["GET", "HEAD"], rate_limit: "burst" }] },
    organization: {
      routes: [
        {
          path: "/org/widgets/{id}",
          methods: ["DELETE"],
          required_labels: ["admin"],
          upstream: "/o/{path.id}",
          timeout_ms: 90_000,
          max_body_bytes: 0,
        },
        { path: "/org/widgets", methods: ["GET", "POST"], rate_limit: { requests: 5, window_seconds: 60 } },
      ],
    },
  },
  audit: { url: "http://audit:1", user: { routes: [{ path: "/log", methods: ["POST"], audit: false }] } },
};
const rows = routeRows(services);
const found = (search: string) =>
  rows.filter(({ text }) => hasWords(text, wordsOf(search))).map(({ path }) => path);

describe("the rows of routes", () => {
  test("are sorted by service, scope and path, and show the defaults", () => {
    expect(rows.map(({ service, scope, path }) => `${service} ${scope} ${path}`)).toEqual([
      "audit user /log",
      "widgets public /catalog",
      "widgets organization /org/widgets",
      "widgets organization /org/widgets/{id}",
      "widgets member /me",
    ]);
    expect(rows.map(({ audited }) => audited)).toEqual([[], [], ["POST"], ["DELETE"], ["GET"]]);
    expect(countScopes(rows)).toEqual({ public: 2, user: 1, organization: 3, member: 1 });
  });

  test.each([
    ["", ["/log", "/catalog", "/org/widgets", "/org/widgets/{id}", "/me"]],
    ["ORG", ["/org/widgets", "/org/widgets/{id}"]],
    ["delete widgets", ["/org/widgets/{id}"]],
    ["burst", ["/catalog"]],
    ["admin", ["/org/widgets/{id}"]],
    ["{path.id}", ["/org/widgets/{id}"]],
    ["member audited", ["/me"]],
    ["5 in 60", ["/org/widgets", "/org/widgets/{id}"].slice(0, 1)],
    ["timeout 90000 ms", ["/org/widgets/{id}"]],
    ["body unlimited", ["/org/widgets/{id}"]],
    ["widgets nothing", []],
    // A word matches within one column only, so a word that spans two columns finds nothing.
    ["widgetspublic", []],
  ])("%p finds %p", (search, paths) => {
    expect(found(search)).toEqual(paths);
  });
});
