/** Tests of the marks on changes that open a route or break callers (`apps/cli/README.md` lists them). */
import { describe, expect, test } from "bun:test";
import {
  type Change,
  EFFECTS,
  listChanges,
  type MarkedChange,
  markChanges,
  namesPolicies,
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

function markedBetween(
  before: StoredServiceConfig | null,
  after: StoredServiceConfig | null,
): MarkedChange[] {
  return markChanges(listChanges(before, after), before?.rate_limits);
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
    ["user to member", { scope: "user" }, { scope: "member" }, "breaks"],
    ["member to user", { scope: "member" }, { scope: "user" }, "opens breaks"],
    ["user to public", { scope: "user" }, { scope: "public" }, "opens"],
    ["organization to public", {}, { scope: "public" }, "opens"],
    ["public to user", { scope: "public" }, { scope: "user" }, "breaks"],
    ["public to organization", { scope: "public" }, {}, "breaks"],
    // Changes of the labels. A member needs one of them.
    ["no labels to one", {}, { required_labels: ["a"] }, "breaks"],
    ["one label to none", { required_labels: ["a"] }, {}, "opens"],
    ["one label to two", { required_labels: ["a"] }, { required_labels: ["a", "b"] }, "opens"],
    ["two labels to one", { required_labels: ["a", "b"] }, { required_labels: ["b"] }, "breaks"],
    ["a label to another", { required_labels: ["a"] }, { required_labels: ["b"] }, "opens breaks"],
    ["labels in another order", { required_labels: ["a", "b"] }, { required_labels: ["b", "a"] }, ""],
    ["labels removed from a user route", { scope: "user", required_labels: ["a"] }, { scope: "user" }, ""],
    [
      "organization with labels to member without labels",
      { scope: "organization", required_labels: ["a"], rate_limit: false },
      { scope: "member", rate_limit: false },
      "opens",
    ],
    // Changes of auditing.
    ["audit back on", { method: "POST", audit: false }, { method: "POST" }, ""],
    ["audit: true where it is the default", { method: "POST" }, { method: "POST", audit: true }, ""],
    ["audit of a GET back to its default", { audit: true }, {}, "opens"],
    // Changes of the upstream.
    [
      "the owner's id removed from the upstream",
      { upstream: OWNED },
      { upstream: "/widgets/{path.widget_id}" },
      "opens",
    ],
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
  const unlimited = false;
  const inherited = undefined;
  const rate = (requests: number, window_seconds: number) => ({ requests, window_seconds });
  const withPlans = (plans: object) => ({ ...LIMIT, plans });

  test.each<[string, unknown, unknown, string]>([
    ["a limit removed", LIMIT, unlimited, "opens"],
    ["the default limit removed", inherited, unlimited, "opens"],
    ["a limit added", unlimited, LIMIT, "breaks"],
    ["the default limit added", unlimited, inherited, "breaks"],
    ["the default limit to another one, because the default is unknown", inherited, LIMIT, "opens breaks"],
    ["a limit to the default limit", LIMIT, inherited, "opens breaks"],
    ["more requests", LIMIT, { ...LIMIT, requests: 101 }, "opens"],
    ["fewer requests", LIMIT, { ...LIMIT, requests: 99 }, "breaks"],
    ["an additional limit in a list", LIMIT, [LIMIT, DAILY], "breaks"],
    ["a limit removed from a list", [LIMIT, DAILY], [LIMIT], "opens"],
    ["a limit to a list of the same limit", LIMIT, [LIMIT], ""],
    ["a month to a day", { requests: 9, period: "month" }, { requests: 9, period: "day" }, "opens"],
    ["failures that no longer count", LIMIT, { ...LIMIT, charge: "success" }, "opens"],
    ["failures that count", { ...LIMIT, charge: "success" }, LIMIT, "breaks"],
    ["a plan with more requests", LIMIT, withPlans({ pro: { requests: 900 } }), "opens"],
    ["a plan with fewer requests", LIMIT, withPlans({ free: { requests: 9 } }), "breaks"],
    ["a plan without a limit", LIMIT, withPlans({ pro: false }), "opens"],
    ["a plan removed", withPlans({ pro: false }), LIMIT, "breaks"],
    ["a longer window", LIMIT, { ...LIMIT, window_seconds: 61 }, "breaks"],
    ["a shorter window", LIMIT, { ...LIMIT, window_seconds: 59 }, "opens"],
    ["the same average rate, but more at once", LIMIT, rate(6000, 3600), "opens"],
  ])("%s", (_, before, after, effects) => {
    const side = (rate_limit: unknown) => one(rate_limit === inherited ? {} : { rate_limit });
    expect(effectsOf(markedBetween(side(before), side(after)))).toBe(effects);
  });

  test.each<[string, unknown, unknown, string]>([
    ["an inline limit to a policy", LIMIT, "p", "breaks"],
    ["a policy to an inline limit", "p", LIMIT, "opens"],
    ["a policy to another", "p", "q", "opens breaks"],
    ["a policy to none", "p", false, "opens"],
  ])("%s", (_, before, after, effects) => {
    const side = (rate_limit: unknown) => one({ rate_limit, policies: { p: LIMIT, q: LIMIT } });
    expect(effectsOf(markedBetween(side(before), side(after)))).toBe(effects);
  });

  test("the default limit to a new policy", () => {
    const after = one({ rate_limit: "p", policies: { p: LIMIT } });
    expect(effectsOf(markedBetween(one({}), after))).toBe("opens breaks");
  });
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
    const routes = (scope: string, ...paths: string[]) =>
      stored(
        serviceWith(
          scope,
          paths.map((path) => ({ path, methods: ["GET"] })),
        ),
      );
    const before = routes("organization", "/x/{a}", "/x/{b}");
    const marked = markedBetween(before, { ...routes("public", "/x/{b}") });
    const effects = marked.map(({ action, path, marks }) => [
      action,
      path,
      ...marks.map(({ effect }) => effect),
    ]);
    expect(effects).toEqual([
      ["added", "/x/{b}", "opens"],
      ["removed", "/x/{a}", "breaks"],
      ["removed", "/x/{b}"],
    ]);
  });
});

describe("a changed policy or url of a service has the specified marks:", () => {
  const withPolicy = (policy?: object) =>
    stored({ url: "http://a:1", user: { routes: [] }, ...(policy && { rate_limits: { p: policy } }) });

  test.each<[string, object | undefined, object | undefined, string]>([
    ["a new policy", undefined, LIMIT, ""],
    ["a removed policy", LIMIT, undefined, ""],
    ["a policy with more requests", LIMIT, { ...LIMIT, requests: 200 }, "opens"],
    ["a policy with fewer requests", LIMIT, { ...LIMIT, requests: 50 }, "breaks"],
    ["a policy that becomes shared", LIMIT, { ...LIMIT, shared: true }, "breaks"],
    ["a policy that is no longer shared", { ...LIMIT, shared: true }, LIMIT, "opens"],
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

  test("a change from a policy with unknown numbers may open and break", () => {
    const change: Change = {
      action: "changed",
      scope: "user",
      method: "GET",
      path: "/",
      before: { rate_limit: "constructor" },
      after: { rate_limit: LIMIT },
    };
    expect(namesPolicies([change])).toBe(true);
    expect(effectsOf(markChanges([change]))).toBe("opens breaks");
    expect(effectsOf(markChanges([change], Object.fromEntries([["constructor", LIMIT]])))).toBe("opens");
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
