import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { FENCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
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
import {
  freshDatabase,
  type RunningProcess,
  services,
  startEtcd,
  type TestServer,
  waitFor,
} from "../../../support/index.ts";

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

  async function start(): Promise<RunningProcess & Client> {
    const stores = { DATABASE_URL: database, ROUTE_STORE_URL: etcd.url };
    const registry = await startRegistryProcess({ ...stores, ...env });
    ends.add(() => registry.kill());
    return registry;
  }

  /** Starts a registry in this process, which is faster, for tests that kill neither a registry nor etcd. */
  async function startHere(): Promise<Client & { stop(): Promise<void> }> {
    const routeStore = await openRouteStore(etcd.url);
    const registry = await startRegistry({ databaseUrl: database, routeStore, env });
    const stop = async () => {
      ends.delete(stop);
      await registry.stop();
      await routeStore.close();
    };
    ends.add(stop);
    return { ...registry, stop };
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
    for (let round = 0; round < 3; round++) {
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
    for (const frozenMs of [0, 1_000, 3_000]) {
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

  // RG-80
  test("when keys in etcd were deleted, changed or added by hand", async () => {
    const registry = await startHere();
    await registry.apply({
      kept: service("/kept"),
      deleted: service("/deleted"),
      corrupted: service("/corrupted"),
      changed: service("/changed"),
      tomb: service("/tomb"),
    });
    await registry.call("DELETE", "/services/tomb");
    await expectEqual(registry);
    await store.delete(`${ROUTES_PREFIX}deleted`);
    await store.put(`${ROUTES_PREFIX}corrupted`, "{not json");
    await store.put(`${ROUTES_PREFIX}changed`, JSON.stringify(service("/by-hand")));
    await store.put(`${ROUTES_PREFIX}tomb`, JSON.stringify(service("/tomb")));
    await store.put(`${ROUTES_PREFIX}invented`, JSON.stringify(service("/invented")));
    await store.put(`${ROUTES_PREFIX}no/service name`, "x");
    await store.put(ROUTES_PREFIX, "x");
    await expectEqual(registry);
    // A service may later have a name whose key was added by hand.
    expect((await registry.put("invented", service("/invented/2"))).status).toBe(200);
    await expectEqual(registry);
  });

  test("when etcd lost all keys, or only the fences", async () => {
    const registry = await startHere();
    await registry.apply({ a: service("/a"), b: service("/b") });
    await expectEqual(registry);
    const client = new Etcd3({ hosts: etcd.url });
    await client.delete().all();
    await expectEqual(registry);
    await client.delete().prefix(FENCES_PREFIX);
    await registry.put("a", service("/a/2"));
    await expectEqual(registry);
    client.close();
  });

  test.each([
    ["is not a number", "nonsense"],
    ["is the greatest number", "9007199254740991"],
    ["has more digits than a fence", "99999999999999999999"],
    ["is a little ahead of the database", String(Date.now() * 1_000 + 60_000_000)],
  ])("when a fence in etcd %s", async (_, fence) => {
    const registry = await startHere();
    await registry.put("fenced", service("/fenced"));
    await expectEqual(registry);
    await store.put(`${FENCES_PREFIX}fenced`, fence);
    await registry.put("fenced", service("/fenced/2"));
    await expectEqual(registry);
    await store.put(`${FENCES_PREFIX}fenced`, fence);
    await store.put(`${ROUTES_PREFIX}fenced`, "corrupted");
    await expectEqual(registry);
    await registry.call("DELETE", "/services/fenced");
    await expectEqual(registry);
  });

  // RG-81
  test("when the database was restored from a backup that is older than the route store", async () => {
    const registry = await startHere();
    await registry.apply({ a: service("/a/1"), b: service("/b/1"), c: service("/c/1") });
    await expectEqual(registry);
    const sql = postgres(database, { onnotice: () => {} });
    const tables = ["writer", "services", "revisions", "route_tests", "owned_routes", "policies"];
    for (const table of tables)
      await sql.unsafe(`create table routes.backup_${table} as table routes.${table}`);
    await registry.apply({ a: service("/a/2"), d: service("/d") });
    await registry.call("DELETE", "/services/b");
    await expectEqual(registry);
    await sql.begin(async (tx) => {
      await tx.unsafe(`truncate ${tables.map((table) => `routes.${table}`).join(", ")}`);
      for (const table of tables) await tx.unsafe(`insert into routes.${table} table routes.backup_${table}`);
    });
    await sql.end();
    expect(Object.keys(await current(registry))).toEqual(["a", "b", "c"]);
    await expectEqual(registry);
    await registry.put("a", service("/a/3"));
    await expectEqual(registry);
  });

  test("when the database was replaced with an empty one", async () => {
    const before = await startHere();
    await before.apply({ a: service("/a"), old: service("/old") });
    await expectEqual(before);
    await before.stop();
    database = await freshDatabase();
    const after = await startHere();
    await expectEqual(after);
    await after.apply({ a: service("/a/new") });
    await expectEqual(after);
  });

  // RG-82
  test("when the registry that accepted a write dies before it projects the write", async () => {
    const survivor = await start();
    await etcd.freeze();
    const victim = await start();
    expect((await victim.put("orphan", service("/orphan"))).status).toBe(200);
    await victim.kill();
    await etcd.thaw();
    await expectEqual(survivor);
    expect(Object.keys(await projected(store))).toEqual(["orphan"]);
  });

  test("when all registries are killed during writes and one starts again", async () => {
    const victims = await Promise.all([start(), start()]);
    const writes = victims.flatMap((victim) =>
      Array.from({ length: 40 }, (_, n) =>
        victim.put(`cut-${n % 10}`, service(`/cut-${n % 10}`)).catch(() => "the connection was cut"),
      ),
    );
    await Promise.race(writes);
    await Promise.all(victims.map((victim) => victim.kill()));
    await Promise.all(writes);
    const registry = await start();
    await expectEqual(registry);
    for (const name of Object.keys(await current(registry))) {
      const { body } = await registry.call("GET", `/services/${name}/revisions`);
      const numbers = body.revisions.map((each: { revision: number }) => each.revision);
      expect(numbers).toEqual(numbers.map((_: number, index: number) => numbers.length - index));
    }
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
