import { describe, expect, test } from "bun:test";
import {
  METHODS,
  type RouteTable,
  RouteTableBuilder,
  SCOPES,
  type StoredServiceConfig,
} from "@ostiary/lib/domain/routes";
import fc from "fast-check";
import type { Node } from "../../../lib/domain/routes/match-tree.ts";
import { buildRouteTable } from "../../support/gateway/route-tables.ts";
import { runs } from "../../support/runs.ts";
import { segments, spell } from "./arbitraries.ts";
import { stored } from "./fixtures.ts";
import { treeOf } from "./match-cost.ts";

/** An edit: the new config of a service, or null to delete the service. */
type Edit = readonly [name: string, config: StoredServiceConfig | null];

const route = fc.record({
  scope: fc.constantFrom(...SCOPES),
  parts: segments,
  name: fc.constantFrom("p", "q"),
  methods: fc.subarray(["GET", "POST"], { minLength: 1 }),
});

/** Options for unique paths. A valid service has no two routes with the same method and path. */
const onePath = {
  maxLength: 8,
  selector: ({ parts, name }: { parts: (string | null)[]; name: string }) => spell(parts, name),
};

const config = fc.uniqueArray(route, onePath).map((routes): StoredServiceConfig => {
  const service: StoredServiceConfig = { url: "http://a:1" };
  for (const { scope, parts, name, methods } of routes) {
    service[scope] ??= { routes: [] };
    service[scope].routes.push({
      path: spell(parts, name),
      methods: METHODS.filter((method) => methods.includes(method)),
    });
  }
  return service;
});

const edits = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.option(config, { freq: 4 })), {
  maxLength: 12,
});
const requests = fc.array(
  fc.tuple(
    fc.constantFrom("GET", "POST", "PUT"),
    fc.array(fc.constantFrom("a", "b", "c", "a.b", "%20", "z"), { maxLength: 5 }),
  ),
  { minLength: 20, maxLength: 40 },
);

function apply(builder: RouteTableBuilder, [name, service]: Edit): void {
  for (const _ of service === null ? builder.delete(name) : builder.put(name, service));
}

/** Returns everything visible in a table: its matches, its tree, its routes, counts and warnings. */
function seen(table: RouteTable, asked: readonly (readonly [string, readonly string[]])[]) {
  return {
    results: asked.map(([method, parts]) => table.match(method, `/${parts.join("/")}`)),
    tree: outlineOf(treeOf(table)),
    routes: table.routes,
    counts: table.counts,
    warnings: table.warnings,
  };
}

/** Returns the fields of a tree that matches read. Trees with equal fields have equal costs (GW-18). */
function outlineOf({ claims, first, reach, param, literals, spellings }: Node): object {
  const children = Array.from(literals ?? [], (child) => [child.folded, outlineOf(child)] as const);
  return {
    claims,
    first,
    reach,
    spellings: spellings && Object.fromEntries(spellings),
    param: param && outlineOf(param),
    literals: Object.fromEntries(children),
  };
}

test("any sequence of edits gives the same tables as a build from scratch, and old tables stay unchanged", () => {
  fc.assert(
    fc.property(edits, requests, (sequence, asked) => {
      const builder = new RouteTableBuilder();
      const services = new Map<string, StoredServiceConfig>();
      const taken: { table: RouteTable; expected: ReturnType<typeof seen> }[] = [];
      for (const edit of sequence) {
        apply(builder, edit);
        const [name, service] = edit;
        if (service === null) services.delete(name);
        else services.set(name, service);
        const expected = seen(buildRouteTable(services), asked);
        taken.push({ table: builder.take(), expected });
      }
      for (const { table, expected } of taken) expect(seen(table, asked)).toEqual(expected);
    }),
    { numRuns: runs(100) },
  );
});

test("edits of a fork leave the builder unchanged, and edits of the builder leave its forks unchanged", () => {
  fc.assert(
    fc.property(edits, edits, edits, requests, (shared, ofBuilder, ofFork, asked) => {
      const builder = new RouteTableBuilder();
      for (const edit of shared) apply(builder, edit);
      const fork = builder.fork();
      const states = [builder, fork].map((each, index) => {
        const own = index === 0 ? ofBuilder : ofFork;
        return { each, own, services: new Map<string, StoredServiceConfig>() };
      });
      for (const { services, own } of states) {
        for (const [name, service] of [...shared, ...own]) {
          if (service === null) services.delete(name);
          else services.set(name, service);
        }
      }
      const length = Math.max(ofBuilder.length, ofFork.length);
      for (let index = 0; index < length; index++) {
        for (const { each, own } of states) {
          const edit = own[index];
          if (edit !== undefined) apply(each, edit);
        }
      }
      for (const { each, services } of states) {
        expect(seen(each.take(), asked)).toEqual(seen(buildRouteTable(services), asked));
      }
    }),
    { numRuns: runs(100) },
  );
});

describe("when a service is replaced,", () => {
  const before = {
    url: "http://a:1",
    rate_limits: { p: { requests: 1, window_seconds: 2 } },
    member: {
      routes: [
        { path: "/same", methods: ["GET"] },
        {
          path: "/w/{x}/{y}",
          upstream: "/o/{subject.member_id}/{path.x}/{path.y}",
          methods: ["GET"],
          required_labels: ["l1", "l2"],
          rate_limit: "p",
          audit: true,
        },
      ],
    },
  };
  const [same, edited] = before.member.routes;
  const withEdited = (change: object) => ({
    ...before,
    member: { routes: [same, { ...edited, ...change }] },
  });

  test.each([
    ["its url", { ...before, url: "http://a:2" }],
    ["a policy's numbers", { ...before, rate_limits: { p: { requests: 1, window_seconds: 3 } } }],
    [
      "whether a policy is shared",
      { ...before, rate_limits: { p: { requests: 1, window_seconds: 2, shared: true } } },
    ],
    ["a param's name", withEdited({ path: "/w/{x}/{z}", upstream: "/o/{path.x}" })],
    ["an upstream to none", withEdited({ upstream: undefined })],
    ["labels", withEdited({ required_labels: ["l1"] })],
    ["a policy to an inline limit", withEdited({ rate_limit: { requests: 1, window_seconds: 2 } })],
    ["a policy to no limit", withEdited({ rate_limit: false })],
    ["audit", withEdited({ audit: false })],
    [
      "a scope",
      { ...before, member: { routes: [same] }, organization: { routes: [{ ...edited, upstream: "/o" }] } },
    ],
  ])("a change of %s gives the same table as a build from scratch", (_, after) => {
    const builder = new RouteTableBuilder();
    apply(builder, ["a", stored(before)]);
    const old = builder.take();
    apply(builder, ["a", stored(after)]);
    const table = builder.take();
    expect(table.routes).toEqual(buildRouteTable([["a", stored(after)]]).routes);
    expect(table.routes).not.toEqual(old.routes);
  });

  test("unchanged routes stay the same objects, even in another order", () => {
    const builder = new RouteTableBuilder();
    apply(builder, ["a", stored(before)]);
    const old = builder.take();
    const more = { path: "/more", methods: ["GET"] };
    apply(builder, ["a", stored({ ...before, member: { routes: [more, edited, same] } })]);
    const table = builder.take();
    for (const path of ["/same", "/w/1/2"]) {
      expect(table.match("GET", path)?.route).toBe(old.match("GET", path)?.route);
    }
    expect(table.match("GET", "/more")).not.toBeNull();
    expect(table.counts).toEqual({ services: 1, routes: 3 });
  });
});
