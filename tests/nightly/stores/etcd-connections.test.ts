import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openRouteStore, type RouteStore, StoreUnavailable } from "@ostiary/lib/runtime/stores/route-store";
import { EtcdClient } from "../../../lib/runtime/stores/route-store/etcd-client.ts";
import { recordChanges } from "../../stores/recorded-changes.ts";
import { CAN_COUNT_CONNECTIONS, connectionsOf } from "../../support/http/connections.ts";
import {
  type Proxy as NetworkProxy,
  rejection,
  services,
  startEtcd,
  startProxy,
  startSilentServer,
  type TestServer,
  waitFor,
} from "../../support/index.ts";

/**
 * A short time to live, so that the holder renews the lease about four times a second. etcd grants a longer
 * time, which must not delay the renewals.
 */
const TTL_SECONDS = 1;
const RENEWALS = 12;
const WATCHES = 12;
/** The minimum pause between two attempts to connect. */
const RECONNECT_MS_MIN = 200;

const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

describe.if(services().etcd.real && CAN_COUNT_CONNECTIONS)("connections to etcd", () => {
  let server: TestServer;
  let proxy: NetworkProxy;
  let store: RouteStore;
  let renewals = 0;

  beforeAll(async () => {
    server = await startEtcd();
    // Only the store connects through the proxy, so connections of the test itself are not counted.
    proxy = await startProxy(server.url);
  });
  afterAll(async () => {
    await proxy.close();
    await server.close();
  });

  const open = async () => {
    renewals = 0;
    store = await openRouteStore(proxy.url, {
      observer: ({ operation, failed }) => {
        if (operation === "lease_keep_alive" && !failed) renewals += 1;
      },
    });
    return store;
  };
  const connections = () =>
    connectionsOf(process.pid, new Map([[Number(new URL(proxy.url).port), "etcd"]])).etcd ?? 0;
  const lease = (key: string, onFailure = () => {}) =>
    store.lease(key, { ttlSeconds: TTL_SECONDS, onFailure, onRecovery: () => {} });
  const renewed = (times: number) => {
    const before = renewals;
    return waitFor(() => renewals >= before + times, { what: `${times} renewals of a lease` });
  };
  const allClosed = () => waitFor(() => connections() === 0, { what: "the end of every connection to etcd" });
  const closeStore = async () => {
    await store.close();
    await allClosed();
  };

  test("include only one for a watch and all renewals of a lease", async () => {
    await open();
    const watch = await recordChanges(store, "kept/");
    const held = lease("kept/a");
    held.put("1");
    await renewed(RENEWALS);
    expect(connections()).toBe(1);
    await held.release();
    await watch.close();
    await closeStore();
  });

  test("are reused by watches that start and end", async () => {
    await open();
    const before = proxy.made();
    for (let count = 0; count < WATCHES; count++) {
      const watch = await recordChanges(store, `begun/${count}`);
      await watch.close();
    }
    await store.ping(1_000);
    expect(proxy.made() - before).toBe(1);
    expect(connections()).toBe(1);
    await closeStore();
  });

  test("are closed when a client is closed while it connects", async () => {
    for (let turns = 1; turns <= 8; turns++) {
      const client = new EtcdClient(new URL(proxy.url).host, undefined);
      const asked = Promise.allSettled([client.connect(undefined, Date.now() + 10_000)]);
      for (let turn = 0; turn < turns; turn++) await nextIteration();
      const made = proxy.made();
      client.close();
      await asked;
      await allClosed();
      expect(proxy.made() - made).toBeLessThanOrEqual(1);
    }
  });

  const outages = [
    { name: "is dead", begin: () => server.kill(), end: () => server.recover() },
    { name: "cannot be reached", begin: async () => proxy.cut(), end: async () => proxy.heal() },
  ];
  for (const { name, begin, end } of outages) {
    test(`do not accumulate, and are not attempted too often, while a node ${name}`, async () => {
      await open();
      const told = await recordChanges(store, "away/");
      const failed = Promise.withResolvers<void>();
      const held = lease("away/a", failed.resolve);
      held.put("1");
      await renewed(1);
      const made = proxy.made();
      const beganMs = performance.now();
      await begin();
      await failed.promise;
      expect(await rejection(store.get("away/a"))).toBeInstanceOf(StoreUnavailable);
      await end();
      await waitFor(() => told.interruptions() > 0, { what: "the watch to start again" });
      const attempts = (performance.now() - beganMs) / RECONNECT_MS_MIN + 2;
      expect(proxy.made() - made).toBeLessThanOrEqual(attempts);
      await renewed(4);
      expect(connections()).toBe(1);
      await held.release();
      await told.close();
      await closeStore();
    });
  }

  test("to a node that never responds do not accumulate", async () => {
    const silent = await startSilentServer();
    const both = await openRouteStore(`${silent.url},${server.url}`);
    const watch = await recordChanges(both, "sockets/");
    let most = 0;
    for (let time = 0; time < 20; time++) {
      // Freezes the working endpoint from time to time, so that the store calls the silent one again.
      if (time % 5 === 4) {
        await server.freeze();
        await rejection(both.ping(1_500));
        await server.thaw();
      }
      await waitFor(() => both.ping(3_000).then(() => true));
      most = Math.max(most, silent.connections());
    }
    expect(most).toBeLessThanOrEqual(2);
    await watch.close();
    await both.close();
    await silent.close();
  });
});
