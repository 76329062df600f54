import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openRouteStore, type RouteStore, StoreUnavailable } from "@ostiary/lib/runtime/stores/route-store";
import { Etcd3 } from "etcd3";
import postgres from "postgres";
import { projected, service, startRegistryProcess } from "../../../app/registry/harness.ts";
import {
  freshDatabase,
  type RunningProcess,
  rejection,
  services,
  startEtcd,
  type TestServer,
  waitFor,
} from "../../../support/index.ts";

setDefaultTimeout(60_000);

describe.skipIf(!services().etcd.binary || !services().postgres.real)("an etcd that is out of space", () => {
  let etcd: TestServer;
  let store: RouteStore;
  let database: string;

  beforeAll(async () => {
    etcd = await startEtcd(["--quota-backend-bytes=2000000"]);
    store = await openRouteStore(etcd.url);
    database = await freshDatabase();
  });
  afterAll(async () => {
    await store.close();
    await etcd.close();
  });

  const start = () => startRegistryProcess({ DATABASE_URL: database, ROUTE_STORE_URL: etcd.url });

  async function ready({ internalUrl }: RunningProcess) {
    const response = await fetch(`${internalUrl}/health/ready`);
    return { status: response.status, body: await response.json() };
  }

  /** Writes values until etcd raises its NOSPACE alarm and refuses every further write. */
  async function fill(): Promise<void> {
    for (let index = 0; index < 100; index++) {
      const failure = await store.put(`filling/${index}`, "x".repeat(500_000)).catch((error) => error);
      if (failure instanceof StoreUnavailable) return;
    }
    throw new Error("etcd accepts more data than its quota allows.");
  }

  /** Frees space and clears the alarm, as etcd's manual says. */
  async function free(): Promise<void> {
    const client = new Etcd3({ hosts: etcd.url });
    const { header } = await client.kv.deleteRange({
      key: Buffer.from("filling/"),
      range_end: Buffer.from("filling0"),
    });
    await client.kv.compact({ revision: header.revision, physical: true });
    await client.maintenance.defragment();
    client.close();
    const alarm = (body: object) =>
      fetch(`${etcd.url}/v3/maintenance/alarm`, { method: "POST", body: JSON.stringify(body) });
    const raised = await (await alarm({ action: "GET" })).text();
    const [, memberID] = /"memberID":"(\d+)"/.exec(raised) ?? [];
    expect((await alarm({ action: "DEACTIVATE", alarm: "NOSPACE", memberID })).status).toBe(200);
  }

  /** Makes outstanding writes `seconds` older. A registry reads their age from the database at its start. */
  async function age(seconds: number): Promise<void> {
    const sql = postgres(database, { onnotice: () => {} });
    await sql`update routes.services set fence = fence - ${seconds * 1_000_000}
              where projected_fence is distinct from fence`;
    await sql.end();
  }

  // RG-84
  test("does not make the registry unready; late projections are reported until they are done", async () => {
    await fill();
    expect(await rejection(store.put("a", "1"))).toBeInstanceOf(StoreUnavailable);
    const before = await start();
    expect((await before.apply({ a: service("/a"), b: service("/b") })).status).toBe(200);
    expect(await ready(before)).toEqual({ status: 200, body: { status: "healthy" } });
    expect(await before.stop()).toBe(0);
    await age(100);

    const registry = await start();
    expect(await ready(registry)).toEqual({
      status: 200,
      body: {
        status: "healthy",
        checks: { projections: expect.stringMatching(/^2 projections are outstanding, for up to 1\d\d s$/) },
      },
    });
    const metrics = await (await fetch(`${registry.internalUrl}/metrics`)).text();
    expect(metrics).toMatch(/^registry_projections_outstanding 2$/m);
    expect(metrics).toMatch(/^registry_projections_outstanding_age_seconds 1\d\d(\.\d+)?$/m);
    const late = () => registry.logs().filter((line) => line.level === "error");
    await waitFor(() => late().length > 0, { what: "an error in the log" });
    // A second write of a waiting service must not make its projection count as younger.
    expect((await registry.apply({ a: service("/a/2") })).status).toBe(200);
    expect(await ready(registry)).toMatchObject({ status: 200, body: { checks: {} } });

    await free();
    await waitFor(async () => Object.keys(await projected(store)).length === 2, {
      timeoutMs: 30_000,
      what: "the projection of both services",
    });
    const well = { status: 200, body: { status: "healthy" } };
    await waitFor(async () => Bun.deepEquals(await ready(registry), well), {
      what: "a readiness response without a warning",
    });
    const over = () => registry.logs().filter((line) => line.message === "projections are no longer late");
    await waitFor(() => over().length > 0, { timeoutMs: 20_000, what: "the log line about the recovery" });
    expect(over()).toMatchObject([{ level: "info" }]);
    expect(late()).toMatchObject([{ outstanding: 2, age_seconds: expect.any(Number) }]);
    expect(await registry.stop()).toBe(0);
  });
});
