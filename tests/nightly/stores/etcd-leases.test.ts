import { describe, expect, test } from "bun:test";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { useBreakable } from "../../full/stores/breakable.ts";
import { recordChanges } from "../../stores/recorded-changes.ts";
import { services, startEtcd, waitFor } from "../../support/index.ts";

describe.if(services().etcd.own)("a leased entry in etcd, by the clock on the wall,", () => {
  const { server, store } = useBreakable(startEtcd, openRouteStore);
  const startLease = (on: RouteStore, key: string, ttlSeconds: number) =>
    on.lease(key, { ttlSeconds, onFailure() {}, onRecovery() {} });
  const holds = (key: string, value: string | undefined) =>
    waitFor(async () => (await store.get(key))?.value === value, { what: `${key} to be ${value}` });

  // GW-31
  test("exists while its holder renews the lease, and ends when the holder is gone", async () => {
    const holder = await openRouteStore(server.url);
    // A time to live of 2 s would end while a busy machine does not run this process.
    const lease = startLease(holder, "leases/died", 5);
    lease.put("1");
    await holds("leases/died", "1");
    const { revision } = await store.summarize("leases/");
    // More than twice the time to live, after which a lease without renewals would have ended.
    await Bun.sleep(11_000);
    expect(await store.summarize("leases/")).toMatchObject({ revision, count: 1 });
    await holder.close();
    await holds("leases/died", undefined);
  });

  // GW-31
  test("is written at most four times a second, however often `put` is called", async () => {
    const told = await recordChanges(store, "leases/often");
    const lease = startLease(store, "leases/often", 2);
    const started = performance.now();
    for (let count = 1; count <= 100; count++) {
      lease.put(String(count));
      await Bun.sleep(5);
    }
    await holds("leases/often", "100");
    const seconds = (performance.now() - started) / 1_000;
    expect(told.changes.length).toBeLessThanOrEqual(4 * seconds + 2);
    await lease.release();
    await told.close();
  });
});
