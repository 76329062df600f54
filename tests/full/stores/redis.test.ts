import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type CounterStore,
  openCounterStore,
  StoreUnavailable,
} from "@ostiary/lib/runtime/stores/counter-store";
import { Redis } from "ioredis";
import {
  freePort,
  freshCounterStoreUrl,
  rejection,
  services,
  startProxy,
  startRedis,
  waitFor,
} from "../../support/index.ts";
import { startRedisCluster } from "../../support/stores/redis-cluster.ts";
import { useBreakable } from "./breakable.ts";

async function expectUnavailable(store: CounterStore, bucket: string): Promise<void> {
  const errors = await Promise.all(Array.from({ length: 50 }, () => rejection(store.increment(bucket, 60))));
  for (const error of errors) expect(error).toBeInstanceOf(StoreUnavailable);
}

test("a counter store opens when nothing listens, and is unavailable at once", async () => {
  const store = await openCounterStore(`redis://127.0.0.1:${freePort()}`);
  await expectUnavailable(store, "nobody");
  expect(await rejection(store.ping())).toBeInstanceOf(StoreUnavailable);
  await store.close();
});

describe.if(services().redis.real)("counter store on Redis", () => {
  let url: string;
  let store: CounterStore;
  let redis: Redis;

  beforeAll(async () => {
    url = await freshCounterStoreUrl();
    store = await openCounterStore(url);
    redis = new Redis(url);
  });
  afterAll(async () => {
    await store.close();
    redis.disconnect();
  });

  test("sets an expiry again on a key that lost it", async () => {
    await redis.set("lost", "41");
    expect(await store.increment("lost", 60)).toEqual({ count: 42, ttlMs: 60_000 });
    expect(await redis.pttl("lost")).toBeWithin(1, 60_001);
  });

  // GW-185
  test("gives nothing back to a window that was opened after the server lost its data", async () => {
    const charge = { bucket: "reset", windowMs: 60_000, isPeriod: false, requests: 9, start: 0 };
    const end = async () => (await store.charge([charge]))?.[0]?.endsMs ?? 0;
    const lost = await end();
    await waitFor(async () => {
      await redis.del("reset");
      return (await end()) > lost + 5;
    });
    expect(await store.refund([{ bucket: "reset", endsMs: lost }])).toEqual([false]);
    expect(await redis.get("reset")).toBe("1");
  });

  test("is unavailable when the key has another type", async () => {
    await redis.lpush("list", "x");
    expect(await rejection(store.increment("list", 60))).toBeInstanceOf(StoreUnavailable);
  });

  // OP-11
  test.each(["1.5", "1e3", "0x10", "nan", "-inf", "-0", "+7", " 7", "007", "abc", "", "9".repeat(30)])(
    "is unavailable when the value is %j, and counts the other buckets of the same moment",
    async (value) => {
      const charge = { windowMs: 60_000, isPeriod: false, requests: 9, start: 0 };
      await redis.del("sound");
      await redis.set("broken", value);
      const names = ["sound", "broken", "sound", "broken"];
      const settled = await Promise.allSettled([
        ...names.map((bucket) => store.charge([{ ...charge, bucket }])),
        ...names.map((bucket) => store.increment(bucket, 60)),
      ]);
      const outcomes = settled.map(({ status }) => status);
      const alternately = ["fulfilled", "rejected", "fulfilled", "rejected"] as const;
      expect(outcomes).toEqual([...alternately, ...alternately]);
      expect([await redis.get("sound"), await redis.get("broken")]).toEqual(["4", value]);
    },
  );
});

describe.if(services().redis.real)("counter store on a Redis that fails", () => {
  const { server, store, returns } = useBreakable(startRedis, openCounterStore);

  test("is unavailable while the server is down, and does not count those calls later", async () => {
    expect((await store.increment("outage", 60)).count).toBe(1);
    const underWay = Array.from({ length: 20 }, () => store.increment("outage", 60).catch(() => null));
    await server.kill();
    await Promise.all(underWay);
    await expectUnavailable(store, "outage");
    expect(await rejection(store.ping())).toBeInstanceOf(StoreUnavailable);
    await server.restart();
    await returns();
    expect((await store.increment("outage", 60)).count).toBe(1);
  });

  test("is unavailable while the server is frozen, and recovers when it thaws", async () => {
    await server.freeze();
    await expectUnavailable(store, "frozen");
    expect(await rejection(store.ping())).toBeInstanceOf(StoreUnavailable);
    await server.thaw();
    await returns();
    // The thawed server may have executed the refused calls, which never admits more than the limit.
    expect((await store.increment("frozen", 60)).count).toBeWithin(1, 52);
  });

  test("replaces a silent connection", async () => {
    const proxy = await startProxy(server.url);
    const remote = await openCounterStore(proxy.url);
    expect((await remote.increment("stalled", 60)).count).toBe(1);
    proxy.stall();
    expect(await rejection(remote.increment("stalled", 60))).toBeInstanceOf(StoreUnavailable);
    await waitFor(() => remote.ping().then(() => true));
    expect((await remote.increment("stalled", 60)).count).toBe(2);
    await remote.close();
    await proxy.close();
  });
});

test.if(services().redis.binary)(
  "a counter store on a Redis cluster counts exactly on every node",
  async () => {
    const cluster = await startRedisCluster();
    const store = await openCounterStore(cluster.url);
    const counts = await Promise.all(
      Array.from({ length: 600 }, async (_, n) => (await store.increment(`bucket ${n % 30}`, 60)).count),
    );
    const expected = Array.from({ length: 600 }, (_, index) => Math.floor(index / 30) + 1);
    expect(counts.toSorted((a, b) => a - b)).toEqual(expected);
    for (const shard of cluster.shards) {
      expect(Number(await (await shard.primary()).order("DBSIZE"))).toBeGreaterThan(0);
    }
    await store.ping();
    await store.close();
    await cluster.close();
  },
);
