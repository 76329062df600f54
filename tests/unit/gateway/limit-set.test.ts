/** Tests of rate limits with plans, calendar periods, several policies and refunds, and of shortened windows. */
import { describe, expect, test } from "bun:test";
import { compileService } from "@ostiary/lib/domain/routes";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { MemoryCounterStore, observeNothing } from "@ostiary/lib/runtime/stores/counter-store";
import { Type } from "@sinclair/typebox";
import {
  createLimiter,
  limitVariables,
  type RateState,
  refusedByLimit,
} from "../../../apps/gateway/steps/limit.ts";
import { rejection } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { serviceWith, stored } from "../routes/fixtures.ts";

const configOf = (env: Env) => loadConfig(Type.Object(limitVariables), env);
const config = configOf({});
/** A stand-in for the record of quotas. It adds up the charges, and `asked` counts the calls of `known`. */
class QuotaRecord {
  readonly charges = new Map<string, number>();
  knownCounts: Readonly<{ [bucket: string]: number }> = {};
  failure: Error | null = null;
  asked = 0;

  charged({ bucket }: { bucket: string }, requests: number): void {
    this.charges.set(bucket, (this.charges.get(bucket) ?? 0) + requests);
  }

  async known({ bucket }: { bucket: string }): Promise<number> {
    this.asked += 1;
    if (this.failure !== null) throw this.failure;
    return this.knownCounts[bucket] ?? 0;
  }
}

const MINUTE = { requests: 2, window_seconds: 60 };
const NOON = Date.parse("2026-11-30T12:00:00.000Z");

type Env = Record<string, string>;

/** Returns a limiter for the route `GET /r`. The clock starts at noon of the last day of a month. */
function limiting(rate_limit?: unknown, policies: object = {}) {
  const clock = manualClock(NOON);
  const store = new MemoryCounterStore(observeNothing, clock);
  const record = new QuotaRecord();
  const limiter = createLimiter({ config, store, clock, quotas: record });
  const route = routeWith(rate_limit, policies);
  return {
    clock,
    record,
    /** Empties the counters, like a restart of the counter store. */
    lose: () => store.close(),
    /** Limits one request with another limiter, whose clock is `ms` ahead, on the same counters. */
    ahead(ms: number) {
      const other = createLimiter({ config, store, clock: manualClock(clock.now() + ms), quotas: record });
      return other.limit(route, caller("o1", null));
    },
    /** Counts a request on the same counters under another setting. */
    under({ rate_limit, policies = {}, plan = null, env = {} }: Setting) {
      const other = createLimiter({ config: configOf(env), store, clock });
      return other.limit(routeWith(rate_limit, policies), caller("o1", plan)) ?? Promise.resolve(null);
    },
    failed: (env: Env) => createLimiter({ config: configOf(env), store, clock }).failed("192.0.2.1"),
    limit: (plan: string | null = null, organization_id = "o1") =>
      limiter.limit(route, caller(organization_id, plan)),
    refund: (state: RateState) => limiter.refund(state),
    refusal: (state: RateState) => refusedByLimit(route, state),
  };
}

interface Setting {
  readonly rate_limit?: unknown;
  readonly policies?: object;
  readonly plan?: string | null;
  readonly env?: Env;
}

const caller = (organization_id: string, plan: string | null) => ({
  ip: "192.0.2.1",
  principal: { user_id: null, organization_id, member_id: "m1", plan },
});

function routeWith(rate_limit: unknown, rate_limits: object) {
  const routes = [{ path: "/r", methods: ["GET"], rate_limit }];
  const [route] = compileService("widgets", stored(serviceWith("organization", routes, { rate_limits })));
  if (route === undefined) throw new Error("The service has no route.");
  return route;
}

type Limiting = ReturnType<typeof limiting>;

async function statesOf({ limit }: Limiting, count: number, plan: string | null = null) {
  const states: RateState[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const state = await limit(plan);
    if (state === null) throw new Error("The route has no limit.");
    states.push(state);
  }
  return states;
}
/** Returns the decision, the remaining requests and the limit, such as `allowed, 1 of 2`. */
const shown = ({ allowed, limit, remaining }: RateState) =>
  `${allowed ? "allowed" : "refused"}, ${remaining} of ${limit}`;

describe("plans", () => {
  const PLANS = { pro: { requests: 3 }, slow: { requests: 2, window_seconds: 3_600 }, enterprise: false };

  // GW-180
  test("give an organization the numbers of its plan; without a plan the numbers of the limit apply", async () => {
    for (const plan of [null, "unknown", "constructor", "__proto__"]) {
      const states = await statesOf(limiting({ ...MINUTE, plans: PLANS }), 3, plan);
      expect(states.map(shown)).toEqual(["allowed, 1 of 2", "allowed, 0 of 2", "refused, 0 of 2"]);
    }
    const states = await statesOf(limiting({ ...MINUTE, plans: PLANS }), 4, "pro");
    expect(states.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    const [slow] = await statesOf(limiting({ ...MINUTE, plans: PLANS }), 1, "slow");
    expect(slow?.reset).toBe(NOON / 1000 + 3_600);
  });

  // GW-180
  test("with the value false remove the limit, and the store is not called", () => {
    expect(limiting({ ...MINUTE, plans: PLANS }).limit("enterprise")).toBeNull();
  });

  // GW-180
  test("can change within a window, and the count continues", async () => {
    const limited = limiting({ ...MINUTE, plans: PLANS });
    await statesOf(limited, 2);
    const states = await statesOf(limited, 2, "pro");
    expect(states.map(shown)).toEqual(["allowed, 0 of 3", "refused, 0 of 3"]);
  });
});

describe("a calendar period", () => {
  // GW-182
  test("begins and ends at midnight UTC, whenever its first request arrives", async () => {
    const day = limiting({ requests: 2, period: "day" });
    const [first, second, third] = await statesOf(day, 3);
    const midnight = Date.parse("2026-12-01T00:00:00.000Z");
    expect([first, second, third].map((state) => state?.reset)).toEqual(Array(3).fill(midnight / 1000));
    expect(third).toMatchObject({ allowed: false, retry_after_seconds: 12 * 3_600 });
    day.clock.advance(midnight - NOON - 1);
    expect((await statesOf(day, 1)).map(shown)).toEqual(["refused, 0 of 2"]);
    day.clock.advance(1);
    expect((await statesOf(day, 1)).map(shown)).toEqual(["allowed, 1 of 2"]);
  });

  // GW-182
  test("does not start twice if the clocks of gateways differ by seconds", async () => {
    const limited = limiting({ requests: 1, period: "day" });
    await statesOf(limited, 1);
    limited.clock.advance(Date.parse("2026-11-30T23:59:58.000Z") - NOON);
    const early = await limited.ahead(5_000);
    expect(early).toMatchObject({ allowed: true, remaining: 0 });
    expect((await statesOf(limited, 1)).map(shown)).toEqual(["refused, 0 of 1"]);
    limited.clock.advance(10_000);
    expect((await statesOf(limited, 1)).map(shown)).toEqual(["refused, 0 of 1"]);
  });
});

describe("a quota that the counter store does not have", () => {
  const DAY = "route:GET:/r:2026-11-30:o1";

  // GW-191
  test("is recorded with each charge, minus refunds and without refused requests", async () => {
    const limited = limiting({ requests: 2, period: "day", charge: "success" });
    const [first] = await statesOf(limited, 4);
    expect(limited.record.charges).toEqual(new Map([[DAY, 2]]));
    if (first !== undefined) limited.refund(first);
    await statesOf(limited, 3);
    expect(limited.record.charges).toEqual(new Map([[DAY, 2]]));
  });

  // GW-192
  test("starts at the known count, which is requested once, and again after the store loses the quota", async () => {
    const limited = limiting({ requests: 5, period: "day" });
    limited.record.knownCounts = { [DAY]: 3 };
    const states = await statesOf(limited, 3);
    expect(states.map(shown)).toEqual(["allowed, 1 of 5", "allowed, 0 of 5", "refused, 0 of 5"]);
    expect(limited.record.asked).toBe(1);
    await limited.lose();
    limited.record.knownCounts = { [DAY]: 5 };
    expect((await statesOf(limited, 2)).map(shown)).toEqual(["refused, 0 of 5", "refused, 0 of 5"]);
    expect(limited.record.asked).toBe(2);
  });

  // GW-193
  test("refuses the request if its count cannot be loaded, and charges nothing", async () => {
    const limited = limiting([MINUTE, { requests: 9, period: "day" }]);
    limited.record.failure = new Error("down");
    expect(await rejection(limited.limit() ?? Promise.resolve())).toBe(limited.record.failure);
    limited.record.failure = null;
    const [state] = await statesOf(limited, 1);
    expect(state).toMatchObject({ remaining: 1 });
    expect([...limited.record.charges.values()]).toEqual([1]);
  });

  // GW-192
  test("is never requested for a limit with a window", async () => {
    const limited = limiting({ ...MINUTE, charge: "success" });
    await statesOf(limited, 3);
    expect([limited.record.asked, limited.record.charges.size]).toEqual([0, 0]);
  });
});

describe("several limits", () => {
  const policies = { burst: { requests: 2, window_seconds: 60 }, quota: { requests: 3, period: "day" } };

  // GW-181, GW-183, GW-184
  test("show the limit with the fewest remaining requests, and describe all limits", async () => {
    const limited = limiting(["quota", "burst"], policies);
    const [first, second, refused] = await statesOf(limited, 3);
    expect(first).toMatchObject({
      allowed: true,
      limit: 2,
      remaining: 1,
      policy: "burst",
      described: {
        policies: '"quota";q=3;w=86400, "burst";q=2;w=60',
        limits: '"quota";r=2;t=43200, "burst";r=1;t=60',
      },
    });
    expect(second).toMatchObject({ remaining: 0, policy: "burst" });
    expect(refused).toMatchObject({ allowed: false, remaining: 0, policy: "burst", retry_after_seconds: 60 });
    const details = { retry_after_seconds: 60, policy: "burst" };
    expect(refused && limited.refusal(refused)).toMatchObject({ details });
  });

  // GW-181
  test("are not charged if one of them is exhausted", async () => {
    const limited = limiting(["quota", "burst"], policies);
    await statesOf(limited, 9);
    limited.clock.advance(60_000);
    const [third, fourth] = await statesOf(limited, 2);
    expect(third).toMatchObject({ allowed: true, limit: 3, remaining: 0, policy: "quota" });
    expect(fourth).toMatchObject({ allowed: false, policy: "quota", retry_after_seconds: 43_140 });
  });

  // GW-181
  test("with equal remaining requests show the later reset", async () => {
    const [state] = await statesOf(limiting([MINUTE, { requests: 2, window_seconds: 90 }]), 1);
    expect(state?.reset).toBe(NOON / 1000 + 90);
  });
});

describe("a limit that charges only successful requests", () => {
  // GW-185
  test("refunds a request once, and only within its window", async () => {
    const limited = limiting({ ...MINUTE, charge: "success" });
    const [first, second] = await statesOf(limited, 2);
    if (first !== undefined) limited.refund(first);
    const [third] = await statesOf(limited, 1);
    expect(third).toMatchObject({ allowed: true, remaining: 0 });
    limited.clock.advance(60_000);
    await statesOf(limited, 1);
    if (second !== undefined) limited.refund(second);
    expect((await statesOf(limited, 1)).map(shown)).toEqual(["allowed, 0 of 2"]);
  });

  // GW-185
  test("refunds nothing for a refused request, and nothing to another limit of the route", async () => {
    const minute = { ...MINUTE, charge: "success" };
    const limited = limiting([minute, { requests: 9, period: "day" }]);
    const [first] = await statesOf(limited, 2);
    const [refused] = await statesOf(limited, 1);
    if (refused !== undefined) limited.refund(refused);
    expect((await statesOf(limited, 1)).map(shown)).toEqual(["refused, 0 of 2"]);
    if (first !== undefined) limited.refund(first);
    const [again] = await statesOf(limited, 1);
    const described = { limits: '"60s";r=0;t=60, "day";r=6;t=43200' };
    expect(again).toMatchObject({ allowed: true, described });
  });
});

// GW-199
describe("a window ends at the latest after its present length:", () => {
  const DAY = 86_400;
  const LONG = { requests: 2, window_seconds: DAY };
  const SHORT = { requests: 100, window_seconds: 10 };
  const named = (policy: object): Setting => ({ rate_limit: "policy", policies: { policy } });
  const planned = (plan: string): Setting => ({ rate_limit: { ...LONG, plans: { pro: SHORT } }, plan });
  const fallback = ({ requests, window_seconds }: typeof LONG): Setting => ({
    env: { RATE_LIMIT_REQUESTS: String(requests), RATE_LIMIT_WINDOW_SECONDS: String(window_seconds) },
  });

  test.each<[string, before: Setting, after: Setting]>([
    ["an inline limit", { rate_limit: LONG }, { rate_limit: SHORT }],
    ["a policy", named(LONG), named(SHORT)],
    ["a plan", planned("free"), planned("pro")],
    ["the fallback", fallback(LONG), fallback(SHORT)],
  ])("%s", async (_, before, after) => {
    const { clock, under } = limiting();
    const start = NOON / 1000;
    for (let sent = 0; sent < 3; sent++) await under(before);
    clock.advance(1_000_000);
    expect(await under(before)).toMatchObject({ allowed: false, reset: start + DAY });
    const reset = start + 1_010;
    expect(await under(after)).toMatchObject({ allowed: true, reset });
    clock.advance(9_000);
    expect(await under(after)).toMatchObject({ allowed: true, reset });
    expect(await under(before)).toMatchObject({ allowed: false, reset });
    clock.advance(1_000);
    expect(await under(before)).toMatchObject({ allowed: true, remaining: 1, reset: reset + DAY });
  });

  // GW-74
  test("the limiter of failed authentications", async () => {
    const { clock, failed } = limiting();
    const long = {
      RATE_LIMIT_AUTH_FAILURE_REQUESTS: "1",
      RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS: String(DAY),
    };
    await failed(long);
    expect(await failed(long)).toMatchObject({ details: { retry_after_seconds: DAY } });
    const short = { ...long, RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS: "10" };
    expect(await failed(short)).toMatchObject({ details: { retry_after_seconds: 10 } });
    clock.advance(10_000);
    expect(await failed(short)).toBeNull();
  });
});
