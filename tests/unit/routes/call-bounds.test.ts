/** Tests of `timeout_ms` and `max_body_bytes`: their values, their stored form, their changes. */
import { describe, expect, test } from "bun:test";
import {
  compileService,
  DEFAULT_CALL_BOUNDS,
  listChanges,
  markChanges,
  RouteTableBuilder,
  type StoredServiceConfig,
  settingChanges,
  subjectOf,
} from "@ostiary/lib/domain/routes";
import { serviceWith, stored } from "./fixtures.ts";
import { check, GET, type Refused, route } from "./rules-suite.ts";

const ROUTE = "organization.routes[0]";
const TIB = 1_099_511_627_776;
const TIMEOUT = /timeout_ms must be a whole number of milliseconds from 1 to 600000; leave timeout_ms out/;
const BODY = /max_body_bytes must be a whole number of bytes from 0 to 1099511627776; 0 means no limit\./;
const MAP = { methods: { GET: {}, POST: { required_labels: ["a"] } } };

const wrongNumbers = [-1, 1.5, "1000", "", null, true, [1], { ms: 1 }, Number.MAX_SAFE_INTEGER, 1e300];

const refusedEverywhere = (field: string, values: readonly unknown[], message: RegExp): Refused[] =>
  values.flatMap((value): Refused[] => {
    const text = `${field}: ${JSON.stringify(value)}`;
    return [
      [`${text} of a service`, route(GET, "organization", { [field]: value }), field, message],
      [`${text} of a route with a list`, route({ ...GET, [field]: value }), `${ROUTE}.${field}`, message],
      [`${text} of a route with a map`, route({ ...MAP, [field]: value }), `${ROUTE}.${field}`, message],
    ];
  });

// RG-7, RG-167
check(
  "the validation of timeouts and sizes",
  [
    ["the shortest timeout and no limit", route({ ...GET, timeout_ms: 1, max_body_bytes: 0 })],
    ["the longest timeout, the highest limit", route({ ...MAP, timeout_ms: 600_000, max_body_bytes: TIB })],
    ["both at a service", route(GET, "organization", { timeout_ms: 1, max_body_bytes: 1 })],
    ["both at a service and at a route", route({ ...GET, timeout_ms: 1 }, "user", { timeout_ms: 2 })],
  ],
  [
    ...refusedEverywhere("timeout_ms", [0, 600_001, ...wrongNumbers], TIMEOUT),
    ...refusedEverywhere("max_body_bytes", [TIB + 1, ...wrongNumbers], BODY),
    ...["timeout_ms", "max_body_bytes"].map(
      (field): Refused => [
        `${field} under a method`,
        route({ methods: { GET: { [field]: 1 } } }),
        `${ROUTE}.methods.GET.${field}`,
        /Unknown field/,
      ],
    ),
    [
      "a timeout of a scope",
      { url: "http://a:1", user: { timeout_ms: 1, routes: [] } },
      "user.timeout_ms",
      /Unknown/,
    ],
  ],
);

// RG-49
test("each row of a map has the bounds of its route, and expanding twice changes nothing", () => {
  const bounds = { timeout_ms: 5, max_body_bytes: 0 };
  const written = route({ ...MAP, ...bounds }, "organization", { timeout_ms: 7, max_body_bytes: 9 });
  const once = stored(written);
  expect(once).toMatchObject({ timeout_ms: 7, max_body_bytes: 9 });
  expect(once.organization?.routes).toMatchObject([bounds, bounds]);
  expect(JSON.stringify(stored(once))).toBe(JSON.stringify(once));
});

describe("a compiled route", () => {
  const defaults = { timeout_ms: 30_000, idleTimeoutMs: 60_000, max_body_bytes: 100 };
  const boundsOf = (service: object, own: object) => {
    const builder = new RouteTableBuilder(defaults);
    for (const _ of builder.put("widgets", stored(route({ ...GET, ...own }, "organization", service))));
    return builder.take().routes[0]?.bounds;
  };

  // GW-224
  test.each<[string, object, object, object]>([
    ["the gateway's bounds by default", {}, {}, {}],
    ["those of its service", { timeout_ms: 5, max_body_bytes: 0 }, {}, { timeout_ms: 5, max_body_bytes: 0 }],
    ["its own before those of its service", { timeout_ms: 5 }, { timeout_ms: 6 }, { timeout_ms: 6 }],
    ["no limit of its own", { max_body_bytes: 5 }, { max_body_bytes: 0 }, { max_body_bytes: 0 }],
    ["a timeout below the idle timeout", {}, { timeout_ms: 59_999 }, { timeout_ms: 59_999 }],
    ["a longer idle timeout", {}, { timeout_ms: 60_001 }, { timeout_ms: 60_001, idleTimeoutMs: 60_001 }],
  ])("has %s", (_, service, own, expected) => {
    expect(boundsOf(service, own)).toEqual({ ...defaults, ...expected });
  });

  test("shares its bounds with all routes that have the same", () => {
    const routes = Array.from({ length: 3 }, (_, index) => ({ path: `/${index}`, ...GET, timeout_ms: 5 }));
    const [first, ...others] = compileService("widgets", stored(serviceWith("user", routes)));
    for (const other of others) expect(other.bounds).toBe(first?.bounds ?? DEFAULT_CALL_BOUNDS);
  });
});

describe("the changes of a service", () => {
  const one = (own: object, service: object = {}) =>
    stored(route({ ...GET, ...own }, "organization", service));
  const marked = (before: StoredServiceConfig | null, after: StoredServiceConfig | null) =>
    markChanges(listChanges(before, after));
  const effects = (before: StoredServiceConfig | null, after: StoredServiceConfig | null) =>
    marked(before, after).flatMap(({ marks }) => marks.map(({ effect }) => effect));

  // RG-66
  test("show each bound of a route and of the service", () => {
    const before = one({ timeout_ms: 5 });
    const after = one({ max_body_bytes: 0 }, { timeout_ms: 7, max_body_bytes: 9 });
    const shown = listChanges(before, after).map((change) => [subjectOf(change), settingChanges(change)]);
    const ofService = (name: string) => ({ method: null, path: null, scope: null, name });
    expect(shown).toEqual([
      [ofService("timeout_ms"), [{ name: "timeout", before: null, after: "7 ms" }]],
      [ofService("max_body_bytes"), [{ name: "largest body", before: null, after: "9 bytes" }]],
      [
        { scope: "organization", method: "GET", path: "/widgets/{widget_id}" },
        [
          { name: "timeout", before: "5 ms", after: "the default" },
          { name: "largest body", before: "the default", after: "unlimited" },
        ],
      ],
    ]);
  });

  test.each<[string, object, object, string[]]>([
    ["a longer timeout", { timeout_ms: 5 }, { timeout_ms: 6 }, []],
    ["a shorter timeout", { timeout_ms: 6 }, { timeout_ms: 5 }, ["breaks"]],
    ["a timeout in place of the default", {}, { timeout_ms: 5 }, ["breaks"]],
    ["a larger body", { max_body_bytes: 5 }, { max_body_bytes: 6 }, ["opens"]],
    ["no limit", { max_body_bytes: 6 }, { max_body_bytes: 0 }, ["opens"]],
    ["a limit", { max_body_bytes: 0 }, { max_body_bytes: 6 }, ["breaks"]],
    ["a size in place of the default", {}, { max_body_bytes: 6 }, ["opens", "breaks"]],
    ["no limit in place of the default", {}, { max_body_bytes: 0 }, ["opens"]],
  ])("are marked for %s, at a route and at a service", (_, before, after, expected) => {
    expect(effects(one(before), one(after)).map(String)).toEqual(expected);
    expect(effects(one({}, before), one({}, after)).map(String)).toEqual(expected);
  });

  test("are not marked for the bounds of a service that is created or deleted", () => {
    const service = one({ timeout_ms: 5, max_body_bytes: 0 }, { timeout_ms: 5, max_body_bytes: 0 });
    expect(effects(null, service)).toEqual([]);
    expect(effects(service, null)).toEqual(["breaks"]);
    expect(marked(service, null).find(({ scope }) => scope !== null)?.marks).toHaveLength(1);
  });
});
