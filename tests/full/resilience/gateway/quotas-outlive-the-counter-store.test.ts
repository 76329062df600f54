/** Tests of quotas of two gateways when the counter store loses its data (GW-191 to GW-195). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { Redis } from "ioredis";
import { type AuditService, json, startAudit } from "../../../app/audit/bed.ts";
import { startGateways } from "../../../support/gateway/gateway-process.ts";
import { startProxy } from "../../../support/http/proxy.ts";
import {
  type RunningProcess,
  services,
  startRedis,
  type TestServer,
  waitFor,
} from "../../../support/index.ts";

const LIMIT = 300;
const { redis, etcd } = services();

describe.skipIf(!redis.real || !etcd.real)("a quota", () => {
  const upstream = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
  let store: TestServer;
  let audit: AuditService;
  /** The proxy between the gateways and the audit service. */
  let wire: Awaited<ReturnType<typeof startProxy>>;
  let gateways: RunningProcess[];

  const widgets: StoredServiceConfig = {
    url: `http://127.0.0.1:${upstream.port}`,
    rate_limits: { monthly: { requests: LIMIT, period: "month" } },
    public: { routes: [{ path: "/widgets", methods: ["GET"], rate_limit: "monthly" }] },
  };

  beforeAll(async () => {
    [store, audit] = await Promise.all([startRedis(), startAudit()]);
    wire = await startProxy(audit.internalUrl);
    gateways = await startGateways({
      replicas: 2,
      services: { widgets },
      env: {
        COUNTER_STORE_URL: store.url,
        AUDIT_ENABLED: "true",
        AUDIT_URL: wire.url,
        TRUSTED_PROXY_HOPS: "1",
      },
    });
  });
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await Promise.all([wire.close(), store.close(), audit.stop(), upstream.stop(true)]);
  });

  /** Sends a request with the client address `client` to a gateway, and returns the status. */
  async function call(client: string, index: number): Promise<number> {
    const headers = { "X-Forwarded-For": client };
    const response = await fetch(`${gateways[index % 2]?.url}/widgets`, { headers });
    await response.text();
    return response.status;
  }

  /** Sends `calls` requests at once and returns the number of 200 responses. All others must be 429. */
  async function admitted(client: string, calls: number): Promise<number> {
    const statuses = await Promise.all(Array.from({ length: calls }, (_, index) => call(client, index)));
    expect(new Set(statuses).difference(new Set([200, 429]))).toEqual(new Set());
    return statuses.filter((status) => status === 200).length;
  }

  /** Returns the number of a client's requests that gateways have reported to audit. */
  async function known(client: string): Promise<number> {
    const period = new Date().toISOString().slice(0, "2026-11".length);
    const response = await fetch(`${audit.internalUrl}/internal/quota-counts`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ quotas: [{ policy: "local:widgets:monthly", period, subject: client }] }),
    });
    return (await json(response)).counts[0];
  }
  const untilKnown = (client: string, count: number) =>
    waitFor(async () => (await known(client)) === count, { timeoutMs: 60_000, what: `${count} charges` });

  /** Waits until both gateways can count quotas again. */
  const untilCounted = () =>
    waitFor(async () => (await call("192.0.2.9", 0)) !== 503 && (await call("192.0.2.9", 1)) !== 503, {
      what: "both gateways to count again",
    });

  // GW-191, GW-192, GW-195, AU-191
  test("admits exactly the rest after the counter store lost its data, if all requests were reported", async () => {
    const client = "192.0.2.1";
    expect(await admitted(client, 120)).toBe(120);
    await untilKnown(client, 120);
    await store.kill();
    await waitFor(async () => (await call(client, 0)) === 503, {
      what: "the gateway to notice that the counter store is down",
    });
    await store.restart();
    await untilCounted();
    expect(await admitted(client, 400)).toBe(LIMIT - 120);
    await untilKnown(client, LIMIT);
    await flush();
    expect(await admitted(client, 50)).toBe(0);
  });

  // GW-195
  test("admits at most the limit plus unreported requests when the counter store loses its data", async () => {
    const client = "192.0.2.2";
    let begun = 0;
    let passed = 0;
    let refused = 0;
    let isFlushed = false;
    const load = Array.from({ length: 6 }, async (_, index) => {
      while (refused < 20) {
        await Bun.sleep(20);
        if (!isFlushed && begun >= LIMIT - 50) continue;
        begun += 1;
        if ((await call(client, index)) === 200) passed += 1;
        else refused += 1;
      }
    });
    const reported = await waitFor(async () => (await known(client)) || null, {
      timeoutMs: 60_000,
      what: "a report under load",
    });
    await flush();
    const unreported = begun - reported;
    isFlushed = true;
    await Promise.all(load);
    expect(passed).toBeWithin(LIMIT, LIMIT + unreported + 1);
  });

  async function flush(): Promise<void> {
    const client = new Redis(store.url);
    await client.flushall();
    client.disconnect();
  }
});
