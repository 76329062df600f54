import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { Etcd3 } from "etcd3";
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
} from "../support/index.ts";
import { recordingListener } from "./recording-listener.ts";

setDefaultTimeout(120_000);

/** Calls that may reach two nodes: a fenced write that runs twice must have the effect of one. */
const everyCall: Record<string, (store: RouteStore) => Promise<unknown>> = {
  get: (store) => store.get("calls/a"),
  list: (store) => store.list("calls/"),
  summarize: (store) => store.summarize("calls/"),
  put: (store) => store.put("calls/a", "1"),
  delete: (store) => store.delete("calls/a"),
  "write fenced": (store) =>
    store.writeFenced({ key: "calls/a", value: "1", fence: { key: "fences/calls", value: 1 } }),
  watch: (store) => store.watch("calls/", recordingListener().listener),
  ping: (store) => store.ping(3_000),
};

/**
 * Expects most of some new stores to answer every call; each call begins with any endpoint. On a busy machine
 * etcd may hold an election, so a failure is retried. When one endpoint in two or three costs a call's whole
 * time, hardly any store finishes its eight calls.
 */
async function expectAnswers(url: string, stores = 12): Promise<void> {
  const answers = async () => {
    const store = await openRouteStore(url);
    const results = await Promise.allSettled(Object.values(everyCall).map((call) => call(store)));
    await store.close();
    return results.every(({ status }) => status === "fulfilled");
  };
  await waitFor(
    async () => {
      const answered = await Promise.all(Array.from({ length: stores }, answers));
      return answered.filter(Boolean).length > stores / 2;
    },
    { timeout_ms: 60_000, what: "Answers of most stores" },
  );
}

describe.if(services().etcd.own)("route store on an endpoint that answers, beside", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(() => server.close());

  test("one that accepts connections and never answers", async () => {
    const silent = await startSilentServer();
    await expectAnswers(`${silent.url},${server.url}`);
    await silent.close();
  });

  test("one that never answers, to which connections do not pile up", async () => {
    const silent = await startSilentServer();
    const store = await openRouteStore(`${silent.url},${server.url}`);
    const watch = await store.watch("sockets/", recordingListener().listener);
    let most = 0;
    for (let time = 0; time < 20; time++) {
      // The endpoint that answers disappears from time to time, so that the other is called again.
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

  test("one that is gone, and one with an unknown name", async () => {
    await expectAnswers(`http://127.0.0.1:${freePort()},http://no-such-name.invalid:2379,${server.url}`);
  });

  test("one that never answers a user either", async () => {
    const guarded = await startEtcd();
    await requireUser(guarded.url);
    const silent = await startSilentServer();
    const asUser = (url: string) => url.replace("//", "//root:secret@");
    // Few stores, because etcd is slow to check a password.
    await expectAnswers(`${asUser(silent.url)},${asUser(guarded.url)}`, 3);
    await silent.close();
    await guarded.close();
  });

  test("one that speaks another protocol", async () => {
    const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("no etcd") });
    await expectAnswers(`${other.url.origin},${server.url}`);
    await other.stop(true);
  });
});

describe.if(services().etcd.binary)("route store on three nodes of etcd", () => {
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
    test(`answers while ${name} is frozen`, async () => {
      const node = await find();
      await node?.freeze();
      await cluster.leader();
      await expectAnswers(cluster.url);
    });

    test(`answers while ${name} is gone`, async () => {
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
    test(`reports changes whichever node ${what}, and when it is back`, async () => {
      const watchers = await Promise.all(Array.from({ length: 6 }, () => openWatcher(cluster.url)));
      const expectTold = async (when: string) => {
        const before = watchers.map((watcher) => watcher.calls());
        await waitFor(() => store.put("watched/a", when).then(() => true));
        await waitFor(() => watchers.every((watcher, index) => watcher.calls() > (before[index] ?? 0)), {
          what: `A call for a change ${when}`,
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
    test(`keeps leased entries, and their latest values, whichever node ${what}`, async () => {
      const told = recordingListener();
      const watch = await waitFor(() => store.watch("leased/", told.listener));
      const stores = await Promise.all(Array.from({ length: 6 }, () => openRouteStore(cluster.url)));
      const leases = stores.map((each, index) =>
        each.lease(`leased/${index}`, { ttl_seconds: 10, onFailure() {}, onRecovery() {} }),
      );
      const expectHeld = async (value: string) => {
        for (const lease of leases) lease.put(value);
        await waitFor(
          async () => {
            const { entries } = await store.list("leased/");
            return entries.length === leases.length && entries.every((entry) => entry.value === value);
          },
          { timeout_ms: 20_000, what: `Six entries with ${value}` },
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
      await watch.close();
      await Promise.all(stores.map((each) => each.close()));
    });
  }

  test("replaces the fence of a write by a newer one, also when a frozen node thaws with the older", async () => {
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

/** Makes it answer only `root` from now on. */
async function requireUser(url: string): Promise<void> {
  const client = new Etcd3({ hosts: url });
  await client.role("root").create();
  const user = await client.user("root").create("secret");
  await user.addRole("root");
  await client.auth.authEnable();
  client.close();
}

/** Opens a store that watches, and counts its changes. */
async function openWatcher(url: string) {
  const store = await openRouteStore(url);
  const { listener, calls } = recordingListener();
  await waitFor(() => store.watch("watched/", listener));
  return { calls, close: () => store.close() };
}
