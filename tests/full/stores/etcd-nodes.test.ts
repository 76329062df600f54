import { test } from "bun:test";
import { openRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { everyCall } from "../../stores/route-store-calls.ts";
import { services, startEtcdCluster, waitFor } from "../../support/index.ts";

const STORES = 4;

// OP-20
test.if(services().etcd.binary)(
  "a route store on three etcd nodes works while the leader is down",
  async () => {
    const cluster = await startEtcdCluster();
    await (await cluster.leader()).kill();
    await cluster.leader();
    // Each store starts with a random node, which may be the dead one.
    const responds = async () => {
      const store = await openRouteStore(cluster.url);
      const results = await Promise.allSettled(everyCall(store, 5_000));
      await store.close();
      return results.every(({ status }) => status === "fulfilled");
    };
    await waitFor(async () => (await Promise.all(Array.from({ length: STORES }, responds))).every(Boolean), {
      timeoutMs: 60_000,
      what: "every store to respond",
    });
    await cluster.close();
  },
);
