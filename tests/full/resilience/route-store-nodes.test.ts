import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer } from "node:http2";
import { type Client, startRegistryProcess } from "../../app/registry/harness.ts";
import { publicService } from "../../support/gateway/gateway.ts";
import { startGatewayOf } from "../../support/gateway/gateway-process.ts";
import { listenLocally } from "../../support/http/listen-locally.ts";
import { RawUpstream } from "../../support/http/raw-http.ts";
import {
  type EtcdCluster,
  freshDatabase,
  ProcessEnded,
  type RunningProcess,
  rejection,
  services,
  startEtcdCluster,
  waitFor,
} from "../../support/index.ts";

setDefaultTimeout(120_000);

/**
 * Expects only JSON log lines on standard output and nothing on standard error, such as messages of
 * libraries.
 */
function expectOwnLines({ stdout, stderr }: RunningProcess): void {
  expect([...stderr]).toEqual([]);
  for (const line of stdout) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) });
}

describe.skipIf(!services().etcd.binary)("the failure of one of three etcd nodes", () => {
  const upstream = new RawUpstream();
  let cluster: EtcdCluster;
  let registry: RunningProcess & Client;
  let gateway: RunningProcess;

  beforeAll(async () => {
    cluster = await startEtcdCluster();
    registry = await startRegistryProcess({
      DATABASE_URL: await freshDatabase(),
      ROUTE_STORE_URL: cluster.url,
      RECONCILE_INTERVAL_MS: "1000",
    });
    gateway = await startGatewayOf(cluster.url);
  });
  afterAll(async () => {
    await Promise.all([registry, gateway].map((each) => each.kill()));
    await cluster.close();
    upstream.close();
  });
  afterEach(() => cluster.recover());

  const statusOf = (through: RunningProcess, path: string) =>
    fetch(through.url + path).then((response) => response.status);

  /** Publishes a route, and waits until every gateway serves it. */
  async function expectPublishing(path: string, ...gateways: RunningProcess[]): Promise<void> {
    const config = publicService(upstream.url, { path, methods: ["GET"] });
    expect((await registry.put("published", config)).status).toBe(200);
    for (const each of gateways) {
      await waitFor(async () => (await statusOf(each, path)) === 200, {
        what: `the gateway to serve ${path}`,
      });
    }
  }

  const ready = (each: RunningProcess) =>
    fetch(`${each.internalUrl}/health/ready`).then((response) => response.status);

  // OP-20
  test("(the leader is frozen) does not keep old and new gateways from serving published routes", async () => {
    const node = await cluster.leader();
    if (node === undefined) throw new Error("The cluster has no leader.");
    await node.freeze();
    const path = "/frozen";
    await expectPublishing(path, gateway);
    // Several gateways, because each connects to a random node first.
    const gateways = await Promise.all([1, 2, 3].map(() => startGatewayOf(cluster.url)));
    await expectPublishing(`${path}/again`, gateway, ...gateways);
    expect(await ready(registry)).toBe(200);
    expect(await Promise.all(gateways.map((each) => each.stop()))).toEqual([0, 0, 0]);
    await cluster.recover();
    await expectPublishing(`${path}/after`, gateway);
    for (const each of [registry, gateway, ...gateways]) expectOwnLines(each);
  });
});

test("a gateway that etcd disconnects for too many pings exits with one message", async () => {
  const etcd = createServer();
  etcd.on("session", (session) => {
    session.on("error", () => {});
    session.goaway(ENHANCE_YOUR_CALM, 0, Buffer.from("too_many_pings"));
  });
  const port = await listenLocally(etcd);
  const ended = await rejection(startGatewayOf(`http://127.0.0.1:${port}`));
  if (!(ended instanceof ProcessEnded)) throw ended;
  expect(ended.exitCode).toBe(1);
  expect(ended.stderr).toEqual([expect.stringMatching(/^Could not start: .*ROUTE_STORE_URL/)]);
  etcd.close();
});

const ENHANCE_YOUR_CALM = 11;
