import { describe, expect, test } from "bun:test";
import { service, startRegistryProcess } from "../../../app/registry/harness.ts";
import { freshDatabase, services, startEtcd, startPostgres, waitFor } from "../../../support/index.ts";

const get = (url: string, path: string) => fetch(`${url}${path}`);

describe("the internal port of a registry", () => {
  // RG-102
  test.skipIf(!services().etcd.own || !services().postgres.own)(
    "is ready only while both the database and the route store respond",
    async () => {
      const [etcd, postgres] = await Promise.all([startEtcd(), startPostgres()]);
      const registry = await startRegistryProcess({ DATABASE_URL: postgres.url, ROUTE_STORE_URL: etcd.url });
      const ready = async () => {
        const response = await get(registry.internalUrl, "/health/ready");
        return { status: response.status, body: await response.json() };
      };
      const checks = (database: string, route_store: string) => ({
        status: 503,
        body: { status: "unhealthy", checks: { database, route_store } },
      });
      const become = (expected: unknown) =>
        waitFor(async () => Bun.deepEquals(await ready(), expected), { what: JSON.stringify(expected) });
      const healthy = { status: 200, body: { status: "healthy" } };
      await become(healthy);
      await etcd.kill();
      await become(checks("ok", "unavailable"));
      await postgres.kill();
      await become(checks("unavailable", "unavailable"));
      await etcd.restart();
      await become(checks("unavailable", "ok"));
      await postgres.restart();
      await become(healthy);
      expect((await get(registry.internalUrl, "/health/live")).status).toBe(200);
      expect(await registry.stop()).toBe(0);
      await Promise.all([etcd.close(), postgres.close()]);
    },
    60_000,
  );

  // RG-101, OP-15
  test("starts while the route store is down, and projects when it is back", async () => {
    if (!services().etcd.own) return;
    const etcd = await startEtcd();
    await etcd.kill();
    const registry = await startRegistryProcess({
      DATABASE_URL: await freshDatabase(),
      ROUTE_STORE_URL: etcd.url,
    });
    expect((await registry.put("early", service("/early"))).status).toBe(200);
    expect((await get(registry.internalUrl, "/health/ready")).status).toBe(503);
    const outstanding = async (count: number) =>
      (await (await get(registry.internalUrl, "/metrics")).text()).includes(
        `registry_projections_outstanding ${count}`,
      );
    await waitFor(() => outstanding(1));
    await etcd.restart();
    await waitFor(() => outstanding(0));
    expect((await get(registry.internalUrl, "/health/ready")).status).toBe(200);
    await registry.stop();
    await etcd.close();
  });
});
