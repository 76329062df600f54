/** Tests of the marks on changes that open a route or break callers (`apps/cli/README.md` lists them). */
import { describe, expect, test } from "bun:test";
import {
  EFFECTS,
  listChanges,
  type MarkedChange,
  markChanges,
  routeKey,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import fc from "fast-check";
import { document } from "./arbitraries.ts";
import { serviceWith, stored, storedServices } from "./fixtures.ts";

const PATH = "/widgets/{widget_id}";
const OWNED = "/organizations/{subject.organization_id}/widgets/{path.widget_id}";
const LIMIT = { requests: 100, window_seconds: 60 };
const DAILY = { requests: 1_000, period: "day" };

interface Side {
  scope?: string;
  path?: string;
  method?: string;
  policies?: object;
  [field: string]: unknown;
}

/** Returns a stored service with one route. */
function one({ scope = "organization", path = PATH, method = "GET", policies, ...fields }: Side) {
  return stored(
    serviceWith(scope, [{ path, methods: [method], ...fields }], policies && { rate_limits: policies }),
  );
}

/** Returns a stored service with a policy `p` and one route, which has this limit. */
const limited = (rate_limit: unknown, scope?: string) =>
  one({ scope, policies: { p: LIMIT }, ...(rate_limit !== undefined && { rate_limit }) });

function markedBetween(before: StoredServiceConfig | null, after: StoredServiceConfig | null) {
  return markChanges(listChanges(before, after));
}

/** Returns the effects of all changes, in a fixed order. */
function effectsOf(changes: readonly MarkedChange[]): string {
  const found = new Set(changes.flatMap(({ marks }) => marks.map(({ effect }) => effect)));
  return EFFECTS.filter((effect) => found.has(effect)).join(" ");
}

describe("a route has the specified marks when it changes:", () => {
  test.each<[string, Side, Side, string]>([
    // Changes of the scope.
    ["organization to member, unlimited", { rate_limit: false }, { scope: "member", rate_limit: false }, ""],
    ["audit off", { method: "POST" }, { method: "POST", audit: false }, "opens"],
    ["organization to member: each member has the limit alone", {}, { scope: "member" }, "opens"],
    ["member to organization: members share the limit", { scope: "member" }, {}, "opens breaks"],
    ["organization to user", {}, { scope: "user" }, "opens breaks"],
    ["user to organization", { scope: "user" }, {}, "breaks"],
    ["user to public", { scope: "user" }, { scope: "public" }, "opens"],
    ["public to user", { scope: "public" }, { scope: "user" }, "breaks"],
    // Changes of the labels. A member needs one of them.
    ["no labels to one", {}, { required_labels: ["a"] }, "breaks"],
    ["one label to none", { required_labels: ["a"] }, {}, "opens"],
    ["one label to two", { required_labels: ["a"] }, { required_labels: ["a", "b"] }, "opens"],
    ["two labels to one", { required_labels: ["a", "b"] }, { required_labels: ["b"] }, "breaks"],
    ["a label to another", { required_labels: ["a"] }, { required_labels: ["b"] }, "opens breaks"],
    ["labels in another order", { required_labels: ["a", "b"] }, { required_labels: ["b", "a"] }, ""],
    ["labels removed from a user route", { scope: "user", required_labels: ["a"] }, { scope: "user" }, ""],
    // Changes of auditing.
    ["audit back on", { method: "POST", audit: false }, { method: "POST" }, ""],
    ["audit of a GET back to its default", { audit: true }, {}, "opens"],
    // Changes of the upstream.
    ["an upstream with the owner's id removed", { upstream: OWNED }, {}, "opens"],
    // Changes of the path or the method.
    ["a param's name", {}, { path: "/widgets/{id}" }, ""],
    ["the spelling of a literal", { path: "/widgets;v=1" }, { path: "/widgets" }, "breaks"],
    ["a param's name, and the labels", { required_labels: ["a"] }, { path: "/widgets/{id}" }, "opens"],
    ["the method", {}, { method: "HEAD" }, "breaks"],
    ["the path", {}, { path: "/gadgets/{widget_id}" }, "breaks"],
  ])("%s", (_, before, after, effects) => {
    expect(effectsOf(markedBetween(one(before), one(after)))).toBe(effects);
  });
});

describe("a route has the specified marks when its limit changes:", () => {
  test.each<[string, unknown, unknown, string]>([
    ["a limit removed", LIMIT, false, "opens"],
    ["the default limit added", false, undefined, "breaks"],
    ["a limit to the default limit, which is unknown", LIMIT, undefined, "opens breaks"],
    ["more requests", LIMIT, { ...LIMIT, requests: 101 }, "opens"],
    ["fewer requests", LIMIT, { ...LIMIT, requests: 99 }, "breaks"],
    ["another window", LIMIT, { ...LIMIT, window_seconds: 61 }, "opens breaks"],
    ["numbers of a plan", LIMIT, { ...LIMIT, plans: { pro: false } }, "opens breaks"],
    ["a list", LIMIT, [LIMIT, DAILY], "opens breaks"],
    ["a policy", LIMIT, "p", "opens breaks"],
  ])("%s", (_, before, after, effects) => {
    expect(effectsOf(markedBetween(limited(before), limited(after)))).toBe(effects);
  });
});

describe("a route whose scope and limit change together", () => {
  const limits: [string, unknown][] = [
    ["the default", undefined],
    ["a limit", LIMIT],
    ["a limit of fewer requests", { ...LIMIT, requests: 99 }],
    ["a limit of another window", { ...LIMIT, window_seconds: 61 }],
    ["a list", [LIMIT, DAILY]],
    ["a policy", "p"],
  ];

  test.each(limits)(
    "opens as a member route, and breaks callers as an organization route, from %s",
    (_, before) => {
      for (const [, after] of limits) {
        const opened = markedBetween(limited(before, "organization"), limited(after, "member"));
        expect(effectsOf(opened)).toContain("opens");
        const broken = markedBetween(limited(before, "member"), limited(after, "organization"));
        expect(effectsOf(broken)).toContain("breaks");
      }
    },
  );
});

describe("a route that is added or removed", () => {
  test.each(["public", "user", "organization", "member"])("of scope %s has the specified marks", (scope) => {
    expect(effectsOf(markedBetween(null, one({ scope })))).toBe(scope === "public" ? "opens" : "");
    expect(effectsOf(markedBetween(one({ scope }), null))).toBe("breaks");
  });

  test("that replaces a route in another scope is marked as a change of that route", () => {
    const marked = markedBetween(one({}), one({ scope: "user" }));
    expect(marked.map(({ action, marks }) => [action, marks.length > 0])).toEqual([
      ["added", true],
      ["removed", false],
    ]);
  });

  test("replaces the route with the same path if several routes have its shape", () => {
    const routes = ["/x/{a}", "/x/{b}"].map((path) => ({ path, methods: ["GET"] }));
    const before = stored(serviceWith("organization", routes));
    const marked = markedBetween(before, one({ scope: "public", path: "/x/{b}" }));
    const effects = marked.map(({ action, path, marks }) =>
      [action, path, ...marks.map(({ effect }) => effect)].join(" "),
    );
    expect(effects).toEqual(["added /x/{b} opens", "removed /x/{a} breaks", "removed /x/{b}"]);
  });
});

describe("a changed policy or url of a service has the specified marks:", () => {
  const withPolicy = (policy?: object) =>
    stored({ url: "http://a:1", user: { routes: [] }, ...(policy && { rate_limits: { p: policy } }) });

  test.each<[string, object | undefined, object | undefined, string]>([
    ["a new policy", undefined, LIMIT, ""],
    ["a policy with more requests", LIMIT, { ...LIMIT, requests: 200 }, "opens"],
    ["a policy with fewer requests", LIMIT, { ...LIMIT, requests: 50 }, "breaks"],
    ["a policy that becomes shared", LIMIT, { ...LIMIT, shared: true }, "opens breaks"],
    ["a policy with shared: false, which is the default", LIMIT, { ...LIMIT, shared: false }, ""],
  ])("%s", (_, before, after, effects) => {
    expect(effectsOf(markedBetween(withPolicy(before), withPolicy(after)))).toBe(effects);
  });

  test("the url", () => {
    const moved = { ...one({}), url: "http://elsewhere:1" };
    expect(effectsOf(markedBetween(one({}), moved))).toBe("");
  });

  test("a change of a policy is marked once, and not at each route that names the policy", () => {
    const side = (requests: number, more: object) =>
      one({ rate_limit: "p", policies: { p: { ...LIMIT, requests } }, ...more });
    const marked = markedBetween(side(100, {}), side(50, { required_labels: ["a"] }));
    expect(marked.map(({ scope, marks }) => [scope, marks.length])).toEqual([
      [null, 1],
      ["organization", 1],
    ]);
  });
});

describe("between any two configs", () => {
  /** Generates services below a common root, so that two random services can have the same routes. */
  const config = document.map(({ services }) => {
    const [name = "", service] = Object.entries(services)[0] ?? [];
    const atRoot = JSON.stringify(service).replaceAll(`"/${name}/`, '"/root/');
    return [...storedServices({ s: JSON.parse(atRoot) }).values()][0] ?? null;
  });
  const configs = fc.record({ before: config, after: config });

  test("a route that is no longer served is marked as breaking", () => {
    let lost = 0;
    fc.assert(
      fc.property(configs, ({ before, after }) => {
        const keys = (config: StoredServiceConfig | null) =>
          new Set(
            listChanges(null, config).flatMap(({ method, path }) =>
              method !== null && path !== null ? [routeKey({ method, path })] : [],
            ),
          );
        const isLost = [...keys(before)].some((key) => !keys(after).has(key));
        if (!isLost) return;
        lost += 1;
        expect(effectsOf(markedBetween(before, after))).toContain("breaks");
      }),
    );
    expect(lost).toBeGreaterThan(0);
  });
});
