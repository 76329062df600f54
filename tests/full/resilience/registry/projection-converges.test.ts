import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { Etcd3 } from "etcd3";
import postgres from "postgres";
import {
  type Client,
  current,
  projected,
  service,
  startRegistry,
  startRegistryProcess,
} from "../../../app/registry/harness.ts";
import { freshDatabase, services, startEtcd, type TestServer, waitFor } from "../../../support/index.ts";

const isReal = services().etcd.own && services().postgres.real;
const CONVERGENCE_MS = 20_000;

/** Returns the configuration of write number `n`: the port of its url is `n`. */
const version = (n: number) => ({ ...service("/versioned"), url: `http://upstream:${n}` });

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

  /** Returns the write numbers of all values of the service `versioned`, in the order of etcd's history. */
  async function versionsWritten(): Promise<number[]> {
    const client = new Etcd3({ hosts: etcd.url });
    const key = `${ROUTES_PREFIX}versioned`;
    const newest = BigInt((await client.get(key).exec()).kvs[0]?.mod_revision ?? 0);
    const versions: number[] = [];
    const end = Promise.withResolvers<void>();
    const watcher = await client.watch().key(key).startRevision("1").create();
    watcher.on("data", ({ events }) => {
      for (const { kv } of events) {
        versions.push(Number(/upstream:(\d+)"/.exec(kv.value.toString())?.[1]));
        if (BigInt(kv.mod_revision) >= newest) end.resolve();
      }
    });
    await end.promise;
    await watcher.cancel();
    client.close();
    return versions;
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

  test("when etcd is killed repeatedly during the writes of two registries", async () => {
    const [one, two] = await Promise.all([start(), start()]);
    let writing = true;
    let writes = 0;
    const write = async (registry: Client, offset: number) => {
      for (let n = offset; writing; n += 2) {
        const name = `busy-${n % 5}`;
        const answer =
          n % 7 === 0
            ? await registry.call("DELETE", `/services/${name}`)
            : await registry.put(name, service(`/${name}/${n % 3}`));
        expect([200, 204, 404]).toContain(answer.status);
        writes += 1;
      }
    };
    const writers = Promise.all([write(one, 0), write(two, 1)]);
    const moreWrites = (count: number) => {
      const goal = writes + count;
      return waitFor(() => writes >= goal);
    };
    for (let round = 0; round < 2; round++) {
      await moreWrites(20);
      await etcd.kill();
      await moreWrites(20);
      await etcd.restart();
    }
    writing = false;
    await writers;
    await expectEqual(one);
  });

  // RG-78
  test("when etcd freezes and thaws, and an older revision never replaces a newer one", async () => {
    const [one, two] = await Promise.all([start(), start()]);
    let written = 0;
    for (const frozenMs of [0, 3_000]) {
      for (let n = 0; n < 20; n++) {
        if (n === 10) await etcd.freeze();
        written += 1;
        // Consecutive writes, so that the number of a write equals the number of its revision.
        const answer = await (n % 2 === 0 ? one : two).put("versioned", version(written));
        expect(answer.body.revision).toBe(written);
      }
      // The longest freeze exceeds the timeout of a call to etcd.
      await Bun.sleep(frozenMs);
      await etcd.thaw();
    }
    await expectEqual(one);
    const versions = await versionsWritten();
    expect(versions.at(-1)).toBe(written);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
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
    const sql = postgres(database, { onnotice: () => {} });
    const huge = JSON.stringify({ ...service("/huge"), url: `http://${"x".repeat(2_000_000)}:1` });
    await sql`update routes.revisions set config = ${huge}::text::json where service = 'huge'`;
    await sql.end();
    await etcd.restart();
    await waitFor(async () => Object.keys(await projected(store)).join() === "first,last");
    expect((await registry.put("later", service("/later"))).status).toBe(200);
    await waitFor(async () => "later" in (await projected(store)));
    await registry.put("huge", service("/huge"));
    await expectEqual(registry);
  });
});
