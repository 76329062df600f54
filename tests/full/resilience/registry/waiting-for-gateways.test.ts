import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Gateway } from "@ostiary/lib/contracts/registry-api";
import { INSTANCES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { type Client, startRegistryProcess } from "../../../app/registry/harness.ts";
import { startGatewayOf } from "../../../support/gateway/gateway-process.ts";
import {
  freshDatabase,
  type RunningProcess,
  services,
  startEtcd,
  type TestServer,
  waitFor,
} from "../../../support/index.ts";

setDefaultTimeout(90_000);

const GATEWAYS = 3;
/** The maximum time until a dead gateway is no longer counted. */
const GONE_MS = 15_000;

describe.skipIf(!services().etcd.own)("writes that wait for gateways", () => {
  let etcd: TestServer;
  let store: RouteStore;
  let registry: RunningProcess & Client;
  const gateways: RunningProcess[] = [];

  beforeAll(async () => {
    etcd = await startEtcd();
    store = await openRouteStore(etcd.url);
    registry = await startRegistryProcess({
      DATABASE_URL: await freshDatabase(),
      ROUTE_STORE_URL: etcd.url,
      RECONCILE_FULL_INTERVAL_MS: "86400000",
    });
  });
  beforeEach(async () => {
    while (gateways.length < GATEWAYS) gateways.push(await startGatewayOf(etcd.url));
    await areCurrent(GATEWAYS);
  });
  afterAll(async () => {
    await Promise.all([...gateways, registry].map((each) => each.kill()));
    await store.close();
    await etcd.close();
  });

  const open = (path: string) => ({
    url: "http://127.0.0.1:9",
    public: { routes: [{ path, methods: ["GET"], rate_limit: false }] },
  });
  const apply = async (wait_ms: number, name: string, path: string) => {
    const { status, body } = await registry.call("POST", `/apply?wait_ms=${wait_ms}`, {
      services: { [name]: open(path) },
    });
    expect(status).toBe(200);
    return body.propagation;
  };
  const list = async (): Promise<Gateway[]> => (await registry.call("GET", "/gateways")).body.gateways;
  /** Waits until exactly `count` gateways are listed and all of them are current. */
  const areCurrent = (count: number) =>
    waitFor(
      async () => {
        const found = await list();
        return found.length === count && found.every(({ current }) => current);
      },
      { timeoutMs: 30_000, what: `${count} gateways that are current` },
    );
  const complete = (count: number) => ({
    gateways: count,
    reached: count,
    projected: true,
    waited_ms: expect.any(Number),
  });
  /**
   * Returns 502 if the gateway has the route, because nothing listens at the service's port, and 404
   * otherwise.
   */
  const statusOf = async (gateway: RunningProcess, path: string) =>
    (await fetch(`${gateway.url}${path}`)).status;

  // GW-31, RG-89
  test("count a frozen gateway until its lease ends, and again when it continues", async () => {
    const [frozen] = gateways;
    if (frozen === undefined) throw new Error("No gateway is running.");
    process.kill(frozen.pid, "SIGSTOP");
    // The first writes may also wait for the other gateways, which can be slow on a busy machine.
    const late = await waitFor(async () => {
      const progress = await apply(1_000, "frozen", "/frozen");
      return progress.reached === 2 && progress;
    });
    expect(late).toMatchObject({ gateways: 3, reached: 2, projected: true });
    expect(late.waited_ms).toBeGreaterThanOrEqual(1_000);
    expect((await list()).map(({ current }) => current).sort()).toEqual([false, true, true]);
    const gone = await apply(30_000, "frozen", "/frozen/2");
    expect(gone).toEqual(complete(2));
    process.kill(frozen.pid, "SIGCONT");
    await areCurrent(3);
    expect(await apply(20_000, "frozen", "/frozen/3")).toEqual(complete(3));
    expect(await statusOf(frozen, "/frozen/3")).toBe(502);
  });

  // RG-89
  test("count a gateway that joins while they wait, and stop counting one that died", async () => {
    const [before] = await list();
    // A gateway that never becomes current keeps the write waiting until this test deletes the gateway's key.
    // During the wait, one gateway joins and the lease of another ends.
    const stuck = { ...before, instance: "stuck", store_revision: 0 };
    await store.put(`${INSTANCES_PREFIX}stuck`, JSON.stringify(stuck));
    const victim = gateways.shift();
    await victim?.kill();
    const answer = apply(30_000, "moving", "/moving");
    gateways.push(await startGatewayOf(etcd.url));
    await waitFor(async () => (await list()).filter(({ current }) => current).length === 3, {
      timeoutMs: 25_000,
      what: "the registration of the new gateway",
    });
    await waitFor(async () => (await list()).length === 4, {
      timeoutMs: GONE_MS,
      what: "the expiry of the killed gateway's lease",
    });
    await store.delete(`${INSTANCES_PREFIX}stuck`);
    expect(await answer).toEqual(complete(3));
    expect(await Promise.all(gateways.map((gateway) => statusOf(gateway, "/moving")))).toEqual([
      502, 502, 502,
    ]);
  });
});
