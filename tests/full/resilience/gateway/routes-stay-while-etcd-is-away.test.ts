/** Tests that a gateway keeps serving its routes during outages of the route store (GW-25). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { publicService } from "../../../support/gateway/gateway.ts";
import { startGatewayOf } from "../../../support/gateway/gateway-process.ts";
import { type Proxy as Cable, startProxy } from "../../../support/http/proxy.ts";
import { RawUpstream } from "../../../support/http/raw-http.ts";
import {
  type RunningProcess,
  services,
  startEtcd,
  type TestServer,
  waitFor,
} from "../../../support/index.ts";

setDefaultTimeout(120_000);

const service = new RawUpstream();

describe.skipIf(!services().etcd.own)("an outage of the route store", () => {
  let etcd: TestServer;
  let proxy: Cable;
  let store: RouteStore;
  let gateway: RunningProcess;

  beforeAll(async () => {
    etcd = await startEtcd();
    proxy = await startProxy(etcd.url);
    store = await openRouteStore(etcd.url);
    await store.put(`${ROUTES_PREFIX}stable`, serviceAt("/stable"));
    gateway = await startGatewayOf(proxy.url);
  });

  afterAll(async () => {
    await gateway.kill();
    await store.close();
    await proxy.close();
    await etcd.close();
    service.close();
  });

  const statusOf = (path: string) => fetch(gateway.url + path).then((response) => response.status);
  const becomes = (path: string, status: number) =>
    waitFor(async () => (await statusOf(path)) === status, {
      timeoutMs: 60_000,
      what: `${path} to answer ${status}`,
    });

  /** Sends consecutive requests until `work` is done. Expects that all succeed. */
  async function serving(work: () => Promise<unknown>): Promise<void> {
    let working = true;
    const statuses = new Map<number, number>();
    const requests = (async () => {
      while (working) {
        const status = await statusOf("/stable");
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    })();
    await work();
    working = false;
    await requests;
    expect([...statuses.keys()]).toEqual([200]);
  }

  // GW-25, GW-26
  test("(silent connections to etcd) causes no failed request and no lost change", async () => {
    await serving(async () => {
      proxy.stall();
      await store.put(`${ROUTES_PREFIX}changed`, serviceAt("/silent"));
      await becomes("/silent", 200);
    });
  });
});

function serviceAt(path: string): string {
  return JSON.stringify(publicService(service.url, { path, methods: ["GET"] }));
}
