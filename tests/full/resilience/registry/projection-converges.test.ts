import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import {
  type Client,
  current,
  projected,
  service,
  startRegistry,
  startRegistryProcess,
} from "../../../app/registry/bed.ts";
import { freshDatabase, services, startEtcd, type TestServer, waitFor } from "../../../support/index.ts";
import { withSql } from "../../../support/stores/sql.ts";

const isReal = services().etcd.real && services().postgres.real;
const CONVERGENCE_MS = 20_000;

describe.skipIf(!isReal)("the route store becomes equal to the database", () => {
  let etcd: TestServer;
  let database: string;
  let store: RouteStore;
  let ends: Set<() => Promise<void>>;

  beforeEach(async () => {
    etcd = await startEtcd();
    database = await freshDatabase();
    store = await openRouteStore(etcd.url);
    ends = new Set();
  });
  afterEach(async () => {
    await Promise.all(Array.from(ends, (end) => end()));
    await store.close();
    await etcd.close();
  });

  const env = { RECONCILE_FULL_INTERVAL_MS: "300" };

  /** Starts a registry in this process. */
  async function start(): Promise<Client> {
    const routeStore = await openRouteStore(etcd.url);
    const registry = await startRegistry({ databaseUrl: database, routeStore, env });
    ends.add(async () => {
      await registry.stop();
      await routeStore.close();
    });
    return registry;
  }

  async function expectEqual(registry: Client): Promise<void> {
    const desired = await current(registry);
    await waitFor(async () => Bun.deepEquals(await projected(store), desired), {
      timeoutMs: CONVERGENCE_MS,
      what: `the route store to match the ${Object.keys(desired).length} services of the database`,
    });
  }

  // RG-51, RG-79
  test("when etcd was down during writes, which do not wait for etcd", async () => {
    const registry = await start();
    await registry.put("before", service("/before"));
    await expectEqual(registry);
    await etcd.kill();
    expect((await registry.put("during", service("/during"))).status).toBe(200);
    expect((await registry.apply({ before: service("/before/2"), batch: service("/batch") })).status).toBe(
      200,
    );
    expect((await registry.call("DELETE", "/services/during")).status).toBe(204);
    await etcd.restart();
    expect((await registry.put("after", service("/after"))).status).toBe(200);
    await expectEqual(registry);
  });

  // RG-82
  test("when the registry that accepted a write dies before it projects the write", async () => {
    const survivor = await start();
    await etcd.freeze();
    const victim = await startRegistryProcess({ DATABASE_URL: database, ROUTE_STORE_URL: etcd.url });
    expect((await victim.put("orphan", service("/orphan"))).status).toBe(200);
    await victim.kill();
    await etcd.thaw();
    await expectEqual(survivor);
    expect(Object.keys(await projected(store))).toEqual(["orphan"]);
  });

  // RG-79
  test("except for a service that etcd refuses, which delays no other service", async () => {
    // The registry accepts no service that is too large for etcd, so the test writes one into the database.
    const registry = await start();
    await etcd.kill();
    await registry.put("first", service("/first"));
    await registry.put("huge", service("/huge"));
    await registry.put("last", service("/last"));
    const huge = JSON.stringify({ ...service("/huge"), url: `http://${"x".repeat(2_000_000)}:1` });
    await withSql(
      database,
      (sql) => sql`update routes.revisions set config = ${huge}::text::json where service = 'huge'`,
    );
    await etcd.restart();
    await waitFor(async () => Object.keys(await projected(store)).join() === "first,last");
    expect((await registry.put("later", service("/later"))).status).toBe(200);
    await waitFor(async () => "later" in (await projected(store)));
    await registry.put("huge", service("/huge"));
    await expectEqual(registry);
  });
});
