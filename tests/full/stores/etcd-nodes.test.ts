import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { recordChanges } from "../../stores/recorded-changes.ts";
import { everyCall } from "../../stores/route-store-calls.ts";
import {
  type EtcdCluster,
  freePort,
  rejection,
  services,
  startEtcd,
  startEtcdCluster,
  startSilentServer,
  type TestServer,
  waitFor,
} from "../../support/index.ts";
import { requireUser } from "../../support/stores/etcd-users.ts";

setDefaultTimeout(120_000);

/**
 * Expects that most of `stores` new stores succeed with every call, although each starts with a random
 * endpoint, which may be a bad one. Retries, because etcd may hold an election on a busy machine.
 */
async function expectAnswers(url: string, stores = 12): Promise<void> {
  const answers = async () => {
    const store = await openRouteStore(url);
    const results = await Promise.allSettled(everyCall(store, 5_000));
    await store.close();
    return results.every(({ status }) => status === "fulfilled");
  };
  await waitFor(
    async () => {
      const answered = await Promise.all(Array.from({ length: stores }, answers));
      return answered.filter(Boolean).length > stores / 2;
    },
    { timeoutMs: 60_000, what: "most stores to answer" },
  );
}

describe.if(services().etcd.own)("a route store with a working endpoint also works with another", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(() => server.close());

  test("that accepts connections and never responds", async () => {
    const silent = await startSilentServer();
    await expectAnswers(`${silent.url},${server.url}`);
    await silent.close();
  });

  test("that never responds, without accumulating connections to it", async () => {
    const silent = await startSilentServer();
    const store = await openRouteStore(`${silent.url},${server.url}`);
    const watch = await recordChanges(store, "sockets/");
    let most = 0;
    for (let time = 0; time < 20; time++) {
      // Freezes the working endpoint from time to time, so that the store calls the silent one again.
      if (time % 5 === 4) {
        await server.freeze();
        await rejection(store.ping(1_500));
        await server.thaw();
      }
      await Promise.all([store.get("sockets/a"), store.list("sockets/"), store.ping(3_000)]);
      most = Math.max(most, silent.connections());
    }
    expect(most).toBeLessThanOrEqual(2);
    await watch.close();
    await store.close();
    await silent.close();
  });

  test("where nothing listens, or whose host name is unknown", async () => {
    await expectAnswers(`http://127.0.0.1:${freePort()},http://no-such-name.invalid:2379,${server.url}`);
  });

  test("that never responds, when the URL has a user", async () => {
    const guarded = await startEtcd();
    await requireUser(guarded.url, "secret");
    const silent = await startSilentServer();
    const asUser = (url: string) => url.replace("//", "//root:secret@");
    // Few stores, because etcd is slow to check a password.
    await expectAnswers(`${asUser(silent.url)},${asUser(guarded.url)}`, 3);
    await silent.close();
    await guarded.close();
  });

  test("that speaks another protocol", async () => {
    const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("no etcd") });
    await expectAnswers(`${other.url.origin},${server.url}`);
    await other.stop(true);
  });
});

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

  const nodes = [0, 1, 2].map((index) => [`node ${index}`, async () => cluster.nodes[index]] as const);
  const victims = [...nodes, ["the leader", () => cluster.leader()] as const];

  for (const [name, find] of victims) {
    // OP-20
    test(`works while ${name} is frozen`, async () => {
      const node = await find();
      await node?.freeze();
      await cluster.leader();
      await expectAnswers(cluster.url);
    });

    test(`works while ${name} is down`, async () => {
      const node = await find();
      await node?.kill();
      await cluster.leader();
      await expectAnswers(cluster.url);
    });
  }

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
          { timeoutMs: 20_000, what: `six entries with ${value}` },
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
      expect((await store.get("fenced/a"))?.value).toBe(String(older + 1));
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
