import { describe, expect, test } from "bun:test";
import { type CompiledRoute, compileService, type StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { loadConfig } from "@ostiary/lib/runtime/config";
import {
  MemoryCounterStore,
  observeNothing,
  StoreUnavailable,
} from "@ostiary/lib/runtime/stores/counter-store";
import { Type } from "@sinclair/typebox";
import {
  createLimiter,
  type LimitedRoute,
  type LimitStore,
  limitVariables,
} from "../../../apps/gateway/steps/limit.ts";
import { rejection } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const schema = Type.Object(limitVariables);

/** Returns a limiter with counters in memory, and a list of all increments. */
function limiting(environment: Record<string, string> = {}, broken?: unknown) {
  const time = manualClock();
  const memory = new MemoryCounterStore(observeNothing, time);
  const counted: { bucket: string; window_seconds: number }[] = [];
  const store: LimitStore = {
    isSpread: false,
    charge: (charges) => memory.charge(charges),
    refund: (refunds) => memory.refund(refunds),
    async increment(bucket, window_seconds) {
      counted.push({ bucket, window_seconds });
      if (broken !== undefined) throw broken;
      return memory.increment(bucket, window_seconds);
    },
  };
  const limiter = createLimiter({ config: loadConfig(schema, environment), store, clock: time });
  return {
    time,
    counted,
    failed: limiter.failed,
    limit: (route: LimitedRoute, member_id: string) =>
      limiter.limit(route, {
        ip: "192.0.2.1",
        principal: { user_id: "u1", organization_id: "o1", member_id, plan: null },
      }),
  };
}

/** Returns a function that finds a compiled route of a service by `METHOD path`. */
function routesOf(service: string, config: StoredServiceConfig): (name: string) => CompiledRoute {
  const routes = [...compileService(service, config)];
  return (name) => {
    const found = routes.find(({ method, path }) => `${method} ${path}` === name);
    if (found === undefined) throw new Error(`No route ${name}.`);
    return found;
  };
}

const url = "http://widgets:8080";
const rate_limits = {
  local: { requests: 2, window_seconds: 10, shared: false },
  common: { requests: 3, window_seconds: 20, shared: true },
};
const widgets = routesOf("widgets", {
  url,
  rate_limits,
  member: {
    routes: [
      { path: "/inherits", methods: ["GET", "POST"] },
      { path: "/free", methods: ["GET"], rate_limit: false },
      { path: "/inline", methods: ["GET", "POST"], rate_limit: { requests: 1, window_seconds: 7 } },
      { path: "/local-a", methods: ["GET", "POST"], rate_limit: "local" },
      { path: "/local-b", methods: ["GET"], rate_limit: "local" },
      { path: "/common", methods: ["GET"], rate_limit: "common" },
    ],
  },
});
const gadgets = routesOf("gadgets", {
  url,
  rate_limits,
  member: {
    routes: [
      { path: "/gadgets-local", methods: ["GET"], rate_limit: "local" },
      { path: "/gadgets-common", methods: ["GET"], rate_limit: "common" },
    ],
  },
});

describe("the four values of rate_limit", () => {
  // GW-63
  test("omitted: RATE_LIMIT_REQUESTS in RATE_LIMIT_WINDOW_SECONDS, by default 60 in 60 s", async () => {
    const state = await limiting().limit(widgets("GET /inherits"), "m1");
    expect(state).toMatchObject({ allowed: true, limit: 60, remaining: 59 });
    const set = limiting({ RATE_LIMIT_REQUESTS: "5", RATE_LIMIT_WINDOW_SECONDS: "9" });
    expect(await set.limit(widgets("GET /inherits"), "m1")).toMatchObject({ limit: 5, remaining: 4 });
    expect(set.counted).toEqual([{ bucket: "route:GET:/inherits:m1", window_seconds: 9 }]);
  });

  // GW-63, GW-64
  test("omitted with RATE_LIMIT_REQUESTS=0: unlimited, and the store is not called", () => {
    const { limit, counted } = limiting({ RATE_LIMIT_REQUESTS: "0" });
    expect(limit(widgets("GET /inherits"), "m1")).toBeNull();
    expect(counted).toEqual([]);
  });

  // GW-64
  test("false: unlimited, and the store is not called", () => {
    const { limit, counted } = limiting();
    expect(limit(widgets("GET /free"), "m1")).toBeNull();
    expect(counted).toEqual([]);
  });

  // GW-66
  test("object: its own bucket for each method", async () => {
    const { limit, counted } = limiting();
    const first = await limit(widgets("GET /inline"), "m1");
    expect(first).toMatchObject({ allowed: true, limit: 1, remaining: 0 });
    expect(await limit(widgets("GET /inline"), "m1")).toMatchObject({ allowed: false, remaining: 0 });
    expect(await limit(widgets("POST /inline"), "m1")).toMatchObject({ allowed: true });
    expect(counted[0]).toEqual({ bucket: "route:GET:/inline:m1", window_seconds: 7 });
  });

  // GW-66
  test("a local name: one bucket for all its routes and methods, separate from other services'", async () => {
    const { limit } = limiting();
    const allowed = async (route: CompiledRoute) => (await limit(route, "m1"))?.allowed;
    expect(await allowed(widgets("GET /local-a"))).toBeTrue();
    expect(await allowed(widgets("GET /local-b"))).toBeTrue();
    expect(await allowed(widgets("POST /local-a"))).toBeFalse();
    expect(await allowed(gadgets("GET /gadgets-local"))).toBeTrue();
  });

  // GW-66
  test("a shared name: one bucket for all services that declare it", async () => {
    const { limit, counted } = limiting();
    const remaining = async (route: CompiledRoute) => (await limit(route, "m1"))?.remaining;
    expect(await remaining(widgets("GET /common"))).toBe(2);
    expect(await remaining(gadgets("GET /gadgets-common"))).toBe(1);
    expect(await remaining(widgets("GET /common"))).toBe(0);
    expect(new Set(counted.map(({ bucket }) => bucket))).toEqual(new Set(["shared:common:m1"]));
  });
});

describe("a limited request", () => {
  // GW-65
  test.each([
    ["public", "192.0.2.1"],
    ["user", "u1"],
    ["organization", "o1"],
    ["member", "m1"],
  ] as const)("on a route of scope %s counts for %s", async (scope, subject) => {
    const { limit, counted } = limiting();
    await limit({ ...widgets("GET /inline"), scope }, "m1");
    expect(counted[0]?.bucket).toEndWith(`:${subject}`);
  });

  // GW-71, GW-72
  test("says when the window ends, rounded up, and how long to wait, at least 1 s", async () => {
    const { limit, time } = limiting();
    time.set("2026-01-01T00:00:00.500Z");
    const start = Date.parse("2026-01-01T00:00:00Z") / 1000;
    expect(await limit(widgets("GET /inline"), "m1")).toMatchObject({ reset: start + 8 });
    time.advance(6_900);
    const refused = await limit(widgets("GET /inline"), "m1");
    expect(refused).toMatchObject({ allowed: false, reset: start + 8, retry_after_seconds: 1 });
    time.advance(100);
    expect(await limit(widgets("GET /inline"), "m1")).toMatchObject({ allowed: true, reset: start + 15 });
  });

  // GW-73
  test("gets 503 when the counter store does not respond", async () => {
    const { limit } = limiting({}, new StoreUnavailable("counter_store", new Error("timeout")));
    const error = await rejection(limit(widgets("GET /inline"), "m1") ?? Promise.resolve());
    expect(error).toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE", kind: "network" });
  });
});

describe("the limiter of failed authentications", () => {
  // GW-74
  test("allows RATE_LIMIT_AUTH_FAILURE_REQUESTS failures from an address, then returns 429", async () => {
    const { failed, time } = limiting({
      RATE_LIMIT_AUTH_FAILURE_REQUESTS: "2",
      RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS: "30",
    });
    expect(await failed("10.0.0.1")).toBeNull();
    expect(await failed("10.0.0.1")).toBeNull();
    time.advance(500);
    expect(await failed("10.0.0.1")).toMatchObject({
      code: "RATE_LIMITED",
      status: 429,
      message: "Too many requests. Try again in a moment.",
      details: { retry_after_seconds: 30 },
      headers: { "Retry-After": "30" },
    });
    expect(await failed("10.0.0.2")).toBeNull();
    time.advance(29_500);
    expect(await failed("10.0.0.1")).toBeNull();
  });

  // GW-75
  test("is off with 0 requests: the store is not called", async () => {
    const { failed, counted } = limiting({ RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0" });
    expect(await failed("10.0.0.1")).toBeNull();
    expect(counted).toEqual([]);
  });

  // GW-75
  test("allows failures when the counter store does not respond", async () => {
    const { failed } = limiting({}, new StoreUnavailable("counter_store", new Error("timeout")));
    expect(await failed("10.0.0.1")).toBeNull();
  });
});
