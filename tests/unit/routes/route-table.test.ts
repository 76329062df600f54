import { describe, expect, test } from "bun:test";
import { METHODS, namedParams, nearestRoutes } from "@ostiary/lib/domain/routes";
import { MATCH_STEPS_MAX } from "../../../lib/domain/routes/match-tree.ts";
import { buildRouteTable } from "../../support/gateway/route-tables.ts";
import { spell } from "./arbitraries.ts";
import { pathsService, serviceWith, stored, tableOf } from "./fixtures.ts";
import { costsOf } from "./match-cost.ts";

const served = (paths: string[], request: string) =>
  tableOf(pathsService(...paths)).match("GET", request)?.route.path;

describe("matching", () => {
  // GW-12, GW-13, GW-14
  test.each([
    ["a literal rather than a param", ["/a/{x}", "/a/b"], "/a/b", "/a/b"],
    ["a segment named like an inherited property", ["/{x}"], "/constructor", "/{x}"],
  ])("finds %s", (_, paths, request, expected) => {
    expect(served(paths, request)).toBe(expected);
  });

  // GW-12, GW-13, GW-15
  test.each([
    ["another case", ["/a"], "/A"],
    ["too few segments", ["/a/{x}"], "/a"],
    ["an empty segment for a param", ["/a/{x}"], "/a/"],
    ["a leading empty segment", ["/a"], "//a"],
    ["an empty segment within", ["/a/b", "/a/{x}/b"], "/a//b"],
    ["an empty path", ["/"], ""],
    ["a path without a leading slash", ["/a"], "a"],
    ["a broken escape", ["/{x}"], "/a%zz"],
    ["an escape that spans a slash", ["/{x}/{y}"], "/a%/2"],
    ["a control byte", ["/{x}"], "/a\u0001"],
    ["a letter outside ASCII", ["/{x}"], "/é"],
  ])("finds nothing for %s", (_, paths, request) => {
    expect(served(paths, request)).toBeUndefined();
  });

  test("returns params as received, with the names of the matched route", () => {
    const table = tableOf(
      serviceWith("public", [
        { path: "/a/{x}/{y}", methods: ["GET"] },
        { path: "/a/{__proto__}/{other}", methods: ["POST"] },
      ]),
    );
    const get = table.match("GET", "/a/%2F/b%20c");
    expect(get && namedParams(get)).toEqual({ x: "%2F", y: "b%20c" });
    const post = table.match("POST", "/a/1/2");
    expect(post && Object.entries(namedParams(post))).toEqual([
      ["__proto__", "1"],
      ["other", "2"],
    ]);
  });
});

// GW-18
describe("the cost of matching", () => {
  /** The maximum number of fields that a match reads of a node. A match that enters a node twice exceeds it. */
  const FIELDS_MAX = 9;

  /** Returns a function that returns the number of nodes that a match reads. */
  const nodesReadIn = (paths: string[]) => {
    const costOf = costsOf(tableOf(pathsService(...paths)));
    return (request: string, method = "GET") => {
      const { nodes, reads } = costOf(method, request);
      expect(reads).toBeLessThanOrEqual(nodes * FIELDS_MAX);
      return nodes;
    };
  };

  test("is one node for each segment, however many routes there are", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `/s${index % 100}/r${index}/{id}`);
    expect(nodesReadIn(["/s7/r7/{id}"])("/s7/r7/x")).toBe(4);
    const nodesRead = nodesReadIn(many);
    expect(nodesRead("/s7/r7/x")).toBe(4);
    expect(nodesRead("/s7/r7/x/y")).toBe(4);
    // A literal that shares its slot with others costs more nodes.
    const all = many.map((path) => nodesRead(path.replace("{id}", "x")));
    expect(Math.max(...all)).toBeLessThan(4 * 4);
    expect(all.reduce((sum, nodes) => sum + nodes, 0)).toBeLessThan(5 * many.length);
  });

  test("never exceeds the number of nodes, even in a hostile table", () => {
    const paths = Array.from({ length: 32 }, (_, literal) =>
      spell([...Array.from({ length: 32 }, (_, index) => (index === literal ? "a" : null)), "end"]),
    );
    const nodes = new Set(paths.flatMap((path) => prefixes(path.replace(/\{[^}]*\}/g, "{}")))).size;
    expect(nodesReadIn(paths)(`/${"a/".repeat(32)}other`)).toBeLessThanOrEqual(nodes);
  });

  test("does not enter branches that have no route of the method or depth", () => {
    const both = Array.from({ length: 2 ** 10 }, (_, bits) =>
      spell(Array.from({ length: 10 }, (_, index) => ((bits >> index) & 1 ? "a" : null))),
    );
    const nodesRead = nodesReadIn(both);
    const ROOT_AND_CHILDREN = 3;
    expect(nodesRead("/a/a/a/a/a/a/a/a/a/a", "POST")).toBe(ROOT_AND_CHILDREN);
    expect(nodesRead("/a/a/a/a/a/a/a/a/a")).toBe(ROOT_AND_CHILDREN);
    expect(nodesRead("/a/a/a/a/a/a/a/a/a/a")).toBe(11);
  });

  test("is bounded where branches double at each level, and then the request matches no route", () => {
    const shapes = (levels: number, end: string) =>
      Array.from({ length: 2 ** levels }, (_, bits) =>
        spell([...Array.from({ length: levels }, (_, index) => ((bits >> index) & 1 ? "a" : null)), end]),
      );
    const complete = tableOf(pathsService(...shapes(9, "end")));
    expect(complete.match("GET", `/${"a/".repeat(9)}end`)).not.toBeNull();
    expect(complete.steps).toBe(11);
    expect(complete.match("GET", `/${"a/".repeat(9)}other`)).toBeNull();
    expect(complete.steps).toBe(2 ** 10 - 1);
    const larger = tableOf(pathsService(...shapes(11, "end"), `${spell(Array(11).fill(null))}/y`));
    expect(larger.match("GET", `/${"a/".repeat(11)}end`)).not.toBeNull();
    expect(larger.steps).toBe(13);
    for (const last of ["other", "y"]) {
      expect(larger.match("GET", `/${"a/".repeat(11)}${last}`)).toBeNull();
      expect(larger.steps).toBe(MATCH_STEPS_MAX);
    }
    expect(larger.match("GET", `/${"b/".repeat(11)}y`)).not.toBeNull();
  });
});

describe("a route table", () => {
  // GW-27
  test("skips only those routes of a service whose shape another service has", () => {
    const table = buildRouteTable([
      ["a", stored(pathsService("/w/{x}"))],
      ["b", stored(pathsService("/w/{y}", "/b"))],
    ]);
    expect(table.match("GET", "/w/1")?.route.service).toBe("a");
    expect(table.match("GET", "/b")?.route.service).toBe("b");
    expect(table.warnings).toEqual([expect.stringContaining("GET /w/{y} of service b is skipped")]);
  });

  // GW-28
  test("serves routes of one shape by scope, member first and public last, and then by path", () => {
    const scopes = ["public", "user", "organization", "member"] as const;
    for (const [at, scope] of scopes.entries()) {
      const routes = scopes
        .slice(0, at + 1)
        .map((each) => [each, { routes: [{ path: `/w/{${each[0]}}`, methods: ["GET"] }] }]);
      const service = { ...serviceWith("public", []), ...Object.fromEntries(routes) };
      expect(tableOf(service).match("GET", "/w/1")?.route.scope).toBe(scope);
    }
    const paths = ["/w/{c}", "/w/{a}", "/w/{b}"].map((path) => ({ path, methods: ["GET"] }));
    expect(tableOf(serviceWith("user", paths)).match("GET", "/w/1")?.route.path).toBe("/w/{a}");
  });

  // GW-134
  test.each([
    ["user", undefined, ["POST", "PUT", "PATCH", "DELETE"]],
    ["member", true, ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]],
    ["organization", false, []],
    ["public", undefined, []],
  ] as const)("audits in scope %s with audit %p: %p", (scope, audit, expected) => {
    const table = tableOf(
      serviceWith(scope, [{ path: "/", methods: METHODS, ...(audit !== undefined && { audit }) }]),
    );
    expect(table.routes.filter((route) => route.audited).map((route) => route.method)).toEqual([...expected]);
  });
});

describe("nearest routes", () => {
  const table = tableOf(
    pathsService("/", "/org/widgets", "/org/widgets/{id}", "/org/users", "/other/widgets"),
  );

  test("come best first, and are at most five", () => {
    const paths = (path: string) => nearestRoutes(table, path).map((route) => route.path);
    expect(paths("/org/widgets/").slice(0, 2)).toEqual(["/org/widgets", "/org/widgets/{id}"]);
    expect(paths("/org/WIDGETS/1/x")[0]).toBe("/org/widgets/{id}");
    expect(paths("/nowhere")).toEqual([]);
    const seven = tableOf(pathsService(...Array.from("abcdefg", (name) => `/org/${name}`)));
    expect(nearestRoutes(seven, "/org/h").map(({ path }) => path)).toEqual(
      Array.from("abcde", (name) => `/org/${name}`),
    );
  });

  test("include a route whose literal is misspelled before routes that share only the first segment", () => {
    const others = Array.from("abcdef", (name) => `/org/${name}`);
    const misspelled = tableOf(pathsService(...others, "/org/things/{thing_id}"));
    expect(nearestRoutes(misspelled, "/org/thing/42")[0]?.path).toBe("/org/things/{thing_id}");
  });
});

function prefixes(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
