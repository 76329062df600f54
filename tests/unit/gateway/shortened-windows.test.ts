/** Tests that a window ends at the latest after its present length, for each way to set the length. */
import { expect, test } from "bun:test";
import { createLimiter, limitVariables } from "@ostiary/gateway/limit";
import { compileService } from "@ostiary/lib/domain/routes";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { MemoryCounterStore, observeNothing } from "@ostiary/lib/runtime/stores/counter-store";
import { Type } from "@sinclair/typebox";
import { manualClock } from "../../support/time/manual-clock.ts";
import { serviceWith, stored } from "../routes/fixtures.ts";

const DAY = 86_400;
const LONG = { requests: 2, window_seconds: DAY };
const SHORT = { requests: 100, window_seconds: 10 };

interface Setting {
  readonly rate_limit?: unknown;
  readonly policies?: object;
  readonly plan?: string;
  readonly env?: Record<string, string>;
}

const named = (policy: object): Setting => ({ rate_limit: "policy", policies: { policy } });
const planned = (plan: string): Setting => ({
  rate_limit: { ...LONG, plans: { pro: SHORT } },
  plan,
});
const fallback = ({ requests, window_seconds }: typeof LONG): Setting => ({
  env: { RATE_LIMIT_REQUESTS: String(requests), RATE_LIMIT_WINDOW_SECONDS: String(window_seconds) },
});

function limiting() {
  const clock = manualClock(0);
  const store = new MemoryCounterStore("test", observeNothing, clock);
  return {
    clock,
    /** Counts one request under a setting. */
    async count({ rate_limit, policies = {}, plan, env = {} }: Setting) {
      const config = loadConfig(Type.Object(limitVariables), env);
      const routes = [{ path: "/r", methods: ["GET"], rate_limit }];
      const service = stored(serviceWith("organization", routes, { rate_limits: policies }));
      const [route] = compileService("widgets", service);
      if (route === undefined) throw new Error("The service has no route.");
      const principal = { user_id: null, organization_id: "o1", member_id: "m1", plan: plan ?? null };
      return await createLimiter({ config, store, clock }).limit(route, { ip: "192.0.2.1", principal });
    },
    failed(env: Record<string, string>) {
      const config = loadConfig(Type.Object(limitVariables), env);
      return createLimiter({ config, store, clock }).failed("192.0.2.1");
    },
  };
}

// GW-199
test.each<[string, before: Setting, after: Setting]>([
  ["an inline limit", { rate_limit: LONG }, { rate_limit: SHORT }],
  ["a policy", named(LONG), named(SHORT)],
  ["a plan", planned("free"), planned("pro")],
  ["the fallback", fallback(LONG), fallback(SHORT)],
])("%s with a shorter window admits a refused client after the new length", async (_, before, after) => {
  const { clock, count } = limiting();
  for (let sent = 0; sent < 3; sent++) await count(before);
  clock.advance(1_000_000);
  expect(await count(before)).toMatchObject({ allowed: false, reset: DAY });
  const reset = 1_010;
  expect(await count(after)).toMatchObject({ allowed: true, reset });
  clock.advance(9_000);
  expect(await count(after)).toMatchObject({ allowed: true, reset });
  expect(await count(before)).toMatchObject({ allowed: false, reset });
  clock.advance(1_000);
  expect(await count(before)).toMatchObject({ allowed: true, remaining: 1, reset: 1_010 + DAY });
});

// GW-74, GW-199
test("the limiter of failed authentications with a shorter window ends the long window", async () => {
  const { clock, failed } = limiting();
  const long = { RATE_LIMIT_AUTH_FAILURE_REQUESTS: "1", RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS: String(DAY) };
  await failed(long);
  expect(await failed(long)).toMatchObject({ details: { retry_after_seconds: DAY } });
  const short = { ...long, RATE_LIMIT_AUTH_FAILURE_WINDOW_SECONDS: "10" };
  expect(await failed(short)).toMatchObject({ details: { retry_after_seconds: 10 } });
  clock.advance(10_000);
  expect(await failed(short)).toBeNull();
});
