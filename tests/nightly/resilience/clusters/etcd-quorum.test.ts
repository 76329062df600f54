/** Tests of an etcd cluster without a majority, and of the death of its leader during writes. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Client, startRegistryProcess } from "../../../app/registry/bed.ts";
import { publicService } from "../../../support/gateway/gateway.ts";
import { startGatewayOf } from "../../../support/gateway/gateway-process.ts";
import { RawUpstream } from "../../../support/http/raw-http.ts";
import {
  type EtcdCluster,
  freshDatabase,
  ProcessEnded,
  type RunningProcess,
  rejection,
  services,
  startEtcdCluster,
  type TestServer,
  waitFor,
} from "../../../support/index.ts";

describe.skipIf(!services().etcd.binary || !services().postgres.real)("a cluster of three etcd nodes", () => {
  let upstream: RawUpstream;
  let cluster: EtcdCluster;
  let registry: RunningProcess & Client;
  let gateway: RunningProcess;

  beforeEach(async () => {
    upstream = new RawUpstream();
    cluster = await startEtcdCluster();
    registry = await startRegistryProcess({
      DATABASE_URL: await freshDatabase(),
      ROUTE_STORE_URL: cluster.url,
      RECONCILE_INTERVAL_MS: "1000",
    });
    gateway = await startGatewayOf(cluster.url);
    await published("/before");
    await served("/before");
  });
  afterEach(async () => {
    await Promise.all([registry, gateway].map((each) => each.kill()));
    await cluster.close();
    upstream.close();
  });

  const published = (path: string, name = "things", wait_ms = 0) =>
    registry.call(
      "PUT",
      `/services/${name}?wait_ms=${wait_ms}`,
      publicService(upstream.url, { path, methods: ["GET"] }),
    );
  const statusOf = (path: string) => fetch(gateway.url + path).then(({ status }) => status);
  const served = (path: string) =>
    waitFor(async () => (await statusOf(path)) === 200, {
      timeoutMs: 60_000,
      what: `the gateway to serve ${path}`,
    });
  const ready = (each: RunningProcess) =>
    fetch(`${each.internalUrl}/health/ready`).then(({ status }) => status);

  const faults: [string, (node: TestServer) => Promise<void>][] = [
    ["dead", (node) => node.kill()],
    ["frozen", (node) => node.freeze()],
  ];
  for (const [fault, breakIt] of faults) {
    test(`with two ${fault} nodes still serves the routes, and a publish is recorded as not yet projected`, async () => {
      const [one, two] = cluster.nodes;
      if (one === undefined || two === undefined) throw new Error("The cluster must have three nodes.");
      await Promise.all([one, two].map(breakIt));
      const written = await published("/after", "things", 1_000);
      expect(written.status).toBe(200);
      expect(written.body.propagation).toMatchObject({ projected: false, reached: 0 });
      expect((await registry.call("GET", "/services")).body.services.things).toMatchObject({
        public: { routes: [{ path: "/after" }] },
      });
      await waitFor(async () => (await ready(registry)) === 503, { timeoutMs: 30_000 });
      const list = await registry.call("GET", "/gateways");
      expect([list.status, list.body.error?.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
      for (let count = 0; count < 20; count++) expect(await statusOf("/before")).toBe(200);
      expect(await statusOf("/after")).toBe(404);
      // A new gateway cannot load routes. It must refuse to start, so that it does not replace a gateway that
      // has routes.
      const refused = await rejection(startGatewayOf(cluster.url));
      if (!(refused instanceof ProcessEnded)) throw refused;
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr.join("\n")).toContain("ROUTE_STORE_URL");
      await one.recover();
      await served("/after");
      await waitFor(async () => (await ready(registry)) === 200, { timeoutMs: 30_000 });
      for (const { stderr } of [registry, gateway]) expect([...stderr]).toEqual([]);
    });
  }

  test("whose leader dies during writes projects every write, and the newest revision stays", async () => {
    const leader = await cluster.leader();
    const names = ["a", "b", "c", "d"];
    let projected = 0;
    const writers = names.map(async (name) => {
      const responses: { status: number; projected: unknown }[] = [];
      for (let version = 1; version <= 6; version++) {
        const { status, body } = await published(`/${name}/${version}`, name, 30_000);
        responses.push({ status, projected: body.propagation?.projected });
        if (body.propagation?.projected === true) projected += 1;
      }
      return responses;
    });
    await waitFor(() => projected > 0, { timeoutMs: 60_000, what: "the first projected write" });
    await leader.kill();
    for (const responses of await Promise.all(writers)) {
      expect(responses).toEqual(Array(6).fill({ status: 200, projected: true }));
    }
    for (const name of names) {
      await served(`/${name}/6`);
      expect(await statusOf(`/${name}/5`)).toBe(404);
    }
  });
});
