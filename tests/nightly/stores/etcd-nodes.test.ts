import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { recordChanges } from "../../stores/recorded-changes.ts";
import {
  type EtcdCluster,
  services,
  startEtcdCluster,
  type TestServer,
  waitFor,
} from "../../support/index.ts";

describe.if(services().etcd.binary)("a route store on three etcd nodes", () => {
  let cluster: EtcdCluster;
  let store: RouteStore;

  beforeAll(async () => {
    cluster = await startEtcdCluster();
    store = await openRouteStore(cluster.url);
  });
  afterAll(async () => {
    await store.close();
    await cluster.close();
  });
  afterEach(() => cluster.recover());

  const silences: Record<string, (node: TestServer) => Promise<void>> = {
    "is frozen": (node) => node.freeze(),
    "is cut off from the others": (node) => cluster.cutOff(node),
  };
  for (const [what, silence] of Object.entries(silences)) {
    test(`reports changes while any node ${what}, and afterwards`, async () => {
      const watchers = await Promise.all(Array.from({ length: 6 }, () => openWatcher(cluster.url)));
      const expectTold = async (when: string) => {
        const before = watchers.map((watcher) => watcher.calls());
        await waitFor(() => store.put("watched/a", when).then(() => true));
        await waitFor(() => watchers.every((watcher, index) => watcher.calls() > (before[index] ?? 0)), {
          what: `a call for a change ${when}`,
        });
      };
      await expectTold("before");
      for (const [index, node] of cluster.nodes.entries()) {
        await silence(node);
        await expectTold(`while node ${index} ${what}`);
        await cluster.recover();
        await expectTold(`after node ${index} was back`);
      }
      await Promise.all(watchers.map((watcher) => watcher.close()));
    });
  }

  for (const [what, silence] of Object.entries(silences)) {
    test(`keeps leased entries up to date while any node ${what}, and afterwards`, async () => {
      const told = await waitFor(() => recordChanges(store, "leased/"));
      const stores = await Promise.all(Array.from({ length: 6 }, () => openRouteStore(cluster.url)));
      const leases = stores.map((each, index) =>
        each.lease(`leased/${index}`, { ttlSeconds: 10, onFailure() {}, onRecovery() {} }),
      );
      const expectHeld = async (value: string) => {
        for (const lease of leases) lease.put(value);
        await waitFor(
          async () => {
            const { entries } = await store.list("leased/");
            return entries.length === leases.length && entries.every((entry) => entry.value === value);
          },
          { what: `six entries with ${value}` },
        );
      };
      await expectHeld("before");
      for (const [index, node] of cluster.nodes.entries()) {
        await silence(node);
        await expectHeld(`while node ${index} ${what}`);
        await cluster.recover();
        await expectHeld(`after node ${index} was back`);
      }
      expect(told.changes.some((change) => change.value === null)).toBe(false);
      await Promise.all(leases.map((lease) => lease.release()));
      expect((await waitFor(() => store.list("leased/"))).entries).toEqual([]);
      await told.close();
      await Promise.all(stores.map((each) => each.close()));
    });
  }

  test("keeps a newer fenced write when a frozen node thaws and then handles an older one", async () => {
    const write = (each: RouteStore, revision: number) =>
      each.writeFenced({
        key: "fenced/a",
        value: String(revision),
        fence: { key: "fences/a", value: revision },
      });
    for (const [index, node] of cluster.nodes.entries()) {
      await node.freeze();
      await cluster.leader();
      const writers = await Promise.all(Array.from({ length: 6 }, () => openRouteStore(cluster.url)));
      const older = 2 * index + 1;
      await Promise.all(writers.map((writer) => waitFor(() => write(writer, older))));
      await waitFor(() => write(store, older + 1));
      await node.recover();
      const only = await openRouteStore(node.url);
      await only.ping(20_000);
      await only.close();
      // The node that thaws can start an election, during which calls fail.
      expect((await waitFor(() => store.get("fenced/a")))?.value).toBe(String(older + 1));
      await Promise.all(writers.map((writer) => writer.close()));
    }
  });
});

/** Opens a store and watches a prefix. `calls` returns the number of reported changes and interruptions. */
async function openWatcher(url: string) {
  const store = await openRouteStore(url);
  const { calls } = await waitFor(() => recordChanges(store, "watched/"));
  return { calls, close: () => store.close() };
}
