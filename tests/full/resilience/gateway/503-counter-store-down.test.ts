import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startGateway } from "../../../support/gateway/gateway-process.ts";
import {
  type RunningProcess,
  services,
  startRedis,
  type TestServer,
  waitFor,
} from "../../../support/index.ts";

const { redis, etcd } = services();
const FAILURES = 5;
const START_TIMEOUT_MS = 30_000;

describe.skipIf(!redis.own || !etcd.real)("a gateway", () => {
  const upstream = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
  let store: TestServer;
  let gateway: RunningProcess;

  beforeAll(async () => {
    store = await startRedis();
    const limit = { requests: 100_000, window_seconds: 3_600 };
    gateway = await startGateway({
      services: {
        widgets: {
          url: `http://127.0.0.1:${upstream.port}`,
          public: {
            routes: [
              { path: "/limited", methods: ["GET"], rate_limit: limit },
              { path: "/free", methods: ["GET"], rate_limit: false },
            ],
          },
          member: { routes: [{ path: "/private", methods: ["GET"], rate_limit: limit }] },
        },
      },
      env: { COUNTER_STORE_URL: store.url, RATE_LIMIT_AUTH_FAILURE_REQUESTS: String(FAILURES) },
    });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await gateway.stop();
    await store.close();
    await upstream.stop(true);
  });

  const get = (path: string) => fetch(`${gateway.url}${path}`);
  const statuses = async (path: string, count = 50) =>
    new Set(await Promise.all(Array.from({ length: count }, async () => (await get(path)).status)));
  const ready = async () => (await fetch(`${gateway.internalUrl}/health/ready`)).json();
  const back = () =>
    waitFor(async () => (await get("/limited")).status === 200, { what: "the gateway to count again" });

  async function expectOutage(): Promise<void> {
    expect(await statuses("/limited")).toEqual(new Set([503]));
    const refused = await get("/limited");
    expect(await refused.json()).toMatchObject({ error: { type: "api_error", code: "SERVICE_UNAVAILABLE" } });
    expect(refused.headers.get("x-ratelimit-limit")).toBeNull();
    expect(await statuses("/free")).toEqual(new Set([200]));
    expect(await statuses("/private")).toEqual(new Set([401]));
    expect(await statuses("/unknown")).toEqual(new Set([404]));
    expect(await ready()).toMatchObject({
      status: "unhealthy",
      checks: { counter_store: expect.any(String) },
    });
  }

  // GW-73, GW-75
  test("responds to limited requests with 503 while the counter store is down, and then counts from zero", async () => {
    for (let time = 0; time < 2; time++) {
      expect(await statuses("/limited")).toEqual(new Set([200]));
      await store.kill();
      await waitFor(async () => (await get("/limited")).status === 503);
      await expectOutage();
      await store.restart();
      await back();
      expect((await get("/limited")).headers.get("x-ratelimit-remaining")).toMatch(/^9999\d$/);
    }
  });

  // GW-73
  test("responds to limited requests with 503 while the counter store is frozen, and serves them afterwards", async () => {
    for (let time = 0; time < 2; time++) {
      await store.freeze();
      await expectOutage();
      await store.thaw();
      await back();
      expect(await statuses("/limited")).toEqual(new Set([200]));
    }
  });
});
