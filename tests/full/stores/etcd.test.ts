import { describe, expect, test } from "bun:test";
import { openRouteStore, type RouteStore, StoreUnavailable } from "@ostiary/lib/runtime/stores/route-store";
import { Etcd3 } from "etcd3";
import { recordChanges } from "../../stores/recorded-changes.ts";
import { everyCall } from "../../stores/route-store-calls.ts";
import { rejection, services, startEtcd, startProxy, type TestServer, waitFor } from "../../support/index.ts";
import { useBreakable } from "./breakable.ts";

async function compact(server: TestServer): Promise<void> {
  const client = new Etcd3({ hosts: server.url });
  const { header } = await client.kv.put({ key: Buffer.from("compacted"), value: Buffer.from("") });
  await client.kv.compact({ revision: header.revision, physical: true });
  client.close();
}

test.each([
  ["http://127.0.0.99:80", "127.0.0.99:80"],
  ["https://127.0.0.99:443/", "127.0.0.99:443"],
  ["http://user:80@127.0.0.99", "127.0.0.99:2379"],
])("a route store with the URL %s connects to %s", async (url, address) => {
  const store = await openRouteStore(url);
  const error = await rejection(store.ping(5_000));
  expect(error).toMatchObject({ cause: { message: expect.stringContaining(`${address}.`) } });
  await store.close();
});

/** Expects that every call is unavailable. Makes all calls at once, because each waits until its timeout. */
async function expectUnavailable(store: RouteStore): Promise<void> {
  for (const error of await Promise.all(everyCall(store, 300).map(rejection)))
    expect(error).toBeInstanceOf(StoreUnavailable);
}

describe.if(services().etcd.real)("a route store on an etcd that fails", () => {
  const { server, store, returns } = useBreakable(startEtcd, openRouteStore);

  test("is unavailable while etcd is down, and recovers", async () => {
    await store.put("down/a", "1");
    await server.kill();
    await expectUnavailable(store);
    await server.restart();
    await returns();
    expect(await store.get("down/a")).toMatchObject({ key: "down/a", value: "1" });
    await Promise.all(everyCall(store, 300));
  });

  test("is unavailable while etcd is frozen, and recovers", async () => {
    await server.freeze();
    await expectUnavailable(store);
    await server.thaw();
    await returns();
  });

  describe("a leased entry", () => {
    const startLease = (on: RouteStore, key: string, ttlSeconds = 2) => {
      const reports: string[] = [];
      const lease = on.lease(key, {
        ttlSeconds,
        onFailure: () => reports.push("failure"),
        onRecovery: () => reports.push("recovery"),
      });
      return { lease, reports };
    };
    const holds = (key: string, value: string | undefined) =>
      waitFor(async () => (await store.get(key))?.value === value, { what: `${key} to be ${value}` });

    test("is written again after etcd was down, lost the lease or lost the key", async () => {
      const { lease, reports } = startLease(store, "leases/back");
      lease.put("1");
      await holds("leases/back", "1");
      await server.kill();
      await waitFor(() => reports.length === 1);
      lease.put("2");
      await server.restart();
      await holds("leases/back", "2");
      await waitFor(() => reports.length === 2);
      const client = new Etcd3({ hosts: server.url });
      for (const { ID } of (await client.leaseClient.leaseLeases()).leases) {
        await client.leaseClient.leaseRevoke({ ID });
      }
      await holds("leases/back", "2");
      await store.put("leases/back", "another's");
      await holds("leases/back", "2");
      expect(reports).toEqual(["failure", "recovery"]);
      await lease.release();
      expect(await store.get("leases/back")).toBeNull();
      expect((await client.leaseClient.leaseLeases()).leases).toEqual([]);
      client.close();
    });

    test("keeps its lease while etcd refuses to write, and is written once etcd has room", async () => {
      const full = await startEtcd(["--quota-backend-bytes=2097152"]);
      const client = new Etcd3({ hosts: full.url });
      const leases = async () => (await client.leaseClient.leaseLeases()).leases.map(({ ID }) => ID);
      const holder = await openRouteStore(full.url);
      const { lease, reports } = startLease(holder, "leases/full");
      lease.put("1");
      await waitFor(async () => (await holder.get("leases/full"))?.value === "1");
      const before = await leases();
      for (let fills = true; fills; )
        fills = await holder.put("filler", "x".repeat(200_000)).then(
          () => true,
          () => false,
        );
      lease.put("2");
      await waitFor(() => reports.length === 1);
      const { header } = await client.kv.deleteRange({ key: Buffer.from("filler") });
      await client.kv.compact({ revision: header.revision, physical: true });
      await client.maintenance.defragment();
      await client.maintenance.alarm({ action: "Deactivate", memberID: header.member_id, alarm: "Nospace" });
      await waitFor(() => reports.length === 2);
      expect(await holder.get("leases/full")).toMatchObject({ value: "2" });
      expect(await leases()).toEqual(before);
      client.close();
      await lease.release();
      await holder.close();
      await full.close();
    });

    test("is written again after its holder was disconnected for longer than the lease", async () => {
      const proxy = await startProxy(server.url);
      const holder = await openRouteStore(proxy.url);
      const { lease } = startLease(holder, "leases/stalled");
      lease.put("1");
      await holds("leases/stalled", "1");
      proxy.cut();
      await holds("leases/stalled", undefined);
      proxy.heal();
      await holds("leases/stalled", "1");
      await lease.release();
      await holder.close();
      await proxy.close();
    });
  });

  test("watches again after a restart, and reports the interruption", async () => {
    const watched = await recordChanges(store, "restarted/");
    const before = watched.interruptions();
    await server.kill();
    await server.restart();
    await waitFor(() => watched.interruptions() > before, { what: "an interruption after the restart" });
    await returns();
    const quiet = watched.calls();
    await store.put("restarted/a", "1");
    await waitFor(() => watched.calls() > quiet, { what: "a reported change after the restart" });
    await watched.close();
  });

  test("reports an interruption after a disconnect whose changes were compacted, and then new changes", async () => {
    const proxy = await startProxy(server.url);
    const remote = await openRouteStore(proxy.url);
    const watched = await recordChanges(remote, "compacted/");
    proxy.cut();
    await waitFor(async () => (await rejection(remote.ping(300))) instanceof StoreUnavailable);
    for (let index = 0; index < 10; index++) await store.put("compacted/a", String(index));
    await compact(server);
    const away = watched.interruptions();
    proxy.heal();
    await waitFor(() => watched.interruptions() > away, { what: "an interruption after the cut" });
    await waitFor(
      async () => {
        const before = watched.calls();
        await store.put("compacted/b", String(before));
        return await waitFor(() => watched.calls() > before, { timeoutMs: 1_000 });
      },
      { what: "a reported change after the cut" },
    );
    await watched.close();
    await remote.close();
    await proxy.close();
  });
});
