import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { openRouteStore, type RouteStore, type RouteWatch } from "@ostiary/lib/stores/route-store";
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

/** What is asked of one node and of another: a fenced write that is carried out twice must be as if once. */
const everyCall: Record<string, (store: RouteStore) => Promise<unknown>> = {
  get: (store) => store.get("calls/a"),
  list: (store) => store.list("calls/"),
  put: (store) => store.put("calls/a", "1"),
  delete: (store) => store.delete("calls/a"),
  "write fenced": (store) =>
    store.writeFenced({ key: "calls/a", value: "1", fence: { key: "fences/calls", value: 1 } }),
  watch: (store) => store.watch("calls/", () => {}),
  ping: (store) => store.ping(1_000),
};

/** A store's first call goes to any of its endpoints: so often that each is met. */
async function expectAnswers(url: string): Promise<void> {
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      const store = await openRouteStore(url);
      await Promise.all(Object.values(everyCall).map((call) => call(store)));
      await store.close();
    }),
  );
}

describe.if(services().etcd.own)("route store on an endpoint that answers, beside", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(() => server.close());

  test("one that takes connections and says nothing", async () => {
    const silent = await startSilentServer();
    await expectAnswers(`${silent.url},${server.url}`);
    await silent.close();
  });

  test("one that says nothing, to which it does not pile up connections", async () => {
    const silent = await startSilentServer();
    const store = await openRouteStore(`${silent.url},${server.url}`);
    const watch = await store.watch("sockets/", () => {});
    let most = 0;
    for (let time = 0; time < 20; time++) {
      // the endpoint that answers goes away now and then, so that the other is asked again
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

  test("one that is gone, and one whose name nobody knows", async () => {
    await expectAnswers(
      `http://127.0.0.1:${await freePort()},http://no-such-name.invalid:2379,${server.url}`,
    );
  });

  test("one that speaks something else", async () => {
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

  test("tells of changes whichever node falls silent, and when it is back", async () => {
    const calls = Array.from({ length: 6 }, () => 0);
    const watches: RouteWatch[] = [];
    const stores = await Promise.all(calls.map(() => openRouteStore(cluster.url)));
    for (const [index, each] of stores.entries()) {
      watches.push(await each.watch("watched/", () => (calls[index] = (calls[index] ?? 0) + 1)));
    }
    const expectCalls = async (what: string) => {
      const before = [...calls];
      await store.put("watched/a", what);
      await waitFor(() => calls.every((count, index) => count > (before[index] ?? 0)), {
        what: `A call for a change ${what}`,
      });
    };
    await expectCalls("before");
    for (const [index, node] of cluster.nodes.entries()) {
      await node.freeze();
      await cluster.leader();
      await expectCalls(`while node ${index} is frozen`);
      await node.thaw();
      await expectCalls(`after node ${index} was frozen`);
    }
    await Promise.all(watches.map((watch) => watch.close()));
    await Promise.all(stores.map((each) => each.close()));
  });

  test("gives a fenced write's number up to a newer one, also when a frozen node wakes with the older", async () => {
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
      expect(await Promise.all(writers.map((writer) => write(writer, older)))).toEqual(
        writers.map(() => true),
      );
      expect(await write(store, older + 1)).toBe(true);
      await node.recover();
      const only = await openRouteStore(node.url);
      await only.ping(10_000);
      await only.close();
      expect((await store.get("fenced/a"))?.value).toBe(String(older + 1));
      await Promise.all(writers.map((writer) => writer.close()));
    }
  });
});
