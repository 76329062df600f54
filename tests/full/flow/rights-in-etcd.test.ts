/** Tests that a gateway and a registry need exactly the rights in etcd that the guide of clusters names. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Client, service, startRegistryProcess } from "../../app/registry/bed.ts";
import { startGatewayOf } from "../../support/gateway/gateway-process.ts";
import {
  freshDatabase,
  type RunningProcess,
  services,
  startEtcd,
  type TestServer,
  waitFor,
} from "../../support/index.ts";
import { type ProviderStandIn, signingKey, startProvider } from "../../support/pages/provider-stand-in.ts";
import { ROOT } from "../../support/root.ts";
import { type Right, requireUser } from "../../support/stores/etcd-users.ts";

const PASSWORD = "secret";
const PERMISSIONS: Record<string, Right["permission"]> = {
  read: "Read",
  write: "Write",
  readwrite: "Readwrite",
};

/** Returns the rights that the commands of the guide grant. */
async function documentedRights(): Promise<Right[]> {
  const guide = await Bun.file(join(ROOT, ".github/guides/clusters.md")).text();
  const command = /^etcdctl role grant-permission (\w+) --prefix=true (\w+) (\S+)$/gm;
  return [...guide.matchAll(command)].map(([, role = "", words = "", prefix = ""]) => {
    const permission = PERMISSIONS[words];
    if (permission === undefined) throw new Error(`The guide grants an unknown permission: ${words}`);
    return { role, permission, prefix };
  });
}

describe.skipIf(!services().etcd.real)("users of etcd with exactly the documented rights", () => {
  let etcd: TestServer;
  let provider: ProviderStandIn;
  let registry: RunningProcess & Client;
  let gateway: RunningProcess;

  beforeAll(async () => {
    etcd = await startEtcd();
    provider = startProvider(await signingKey("RS256", "1"));
    await requireUser(etcd.url, PASSWORD, [], await documentedRights());
    const urlOf = (user: string) => etcd.url.replace("//", `//${user}:${PASSWORD}@`);
    registry = await startRegistryProcess({
      DATABASE_URL: await freshDatabase(),
      ROUTE_STORE_URL: urlOf("registry"),
      RECONCILE_FULL_INTERVAL_MS: "100",
    });
    gateway = await startGatewayOf(urlOf("gateway"), {
      AUTH_ISSUER: "https://issuer.example",
      AUTH_JWKS_URI: provider.uri,
    });
  });
  afterAll(async () => {
    await gateway.kill();
    await registry.kill();
    await provider.stop();
    await etcd.close();
  });

  const isReady = (running: RunningProcess) => async () =>
    (await fetch(`${running.internalUrl}/health/ready`)).status === 200;
  const gatewaysListed = async () => (await registry.call("GET", "/gateways")).body.gateways;

  // OP-100, GW-30, GW-160, RG-77, RG-102
  test("start both services, which publish, follow and delete a service, and end their leases", async () => {
    await waitFor(isReady(registry), { what: "the registry to be ready" });
    await waitFor(isReady(gateway), { what: "the gateway to be ready" });
    await waitFor(async () => (await gatewaysListed()).length === 1, { what: "the gateway's status" });
    const published = await registry.call("PUT", "/services/one?wait_ms=30000", service("/one"));
    expect(published.body.propagation).toMatchObject({ gateways: 1, reached: 1, projected: true });
    const statusOf = async (path: string) => (await fetch(gateway.url + path)).status;
    expect([await statusOf("/one"), await statusOf("/two")]).toEqual([401, 404]);
    await registry.call("PUT", "/services/one?wait_ms=30000", service("/two"));
    expect([await statusOf("/one"), await statusOf("/two")]).toEqual([404, 401]);
    await registry.call("DELETE", "/services/one?wait_ms=30000");
    expect(await statusOf("/two")).toBe(404);
    expect(await gateway.stop()).toBe(0);
    expect(await gatewaysListed()).toEqual([]);
    const messages = [...gateway.logs(), ...registry.logs()].map(({ message }) => message);
    expect(messages.filter((message) => String(message).includes("route store"))).toEqual([]);
  });
});
