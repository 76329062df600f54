/** Tests that the route store becomes equal to the database again after somebody changed one of the two. */
import { expect, test } from "bun:test";
import { FENCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { memoryRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { sql } from "drizzle-orm";
import { closing } from "../../support/during-tests.ts";
import { services, waitFor } from "../../support/index.ts";
import { type Client, current, projected, service, useRegistry } from "./bed.ts";

const env = { RECONCILE_FULL_INTERVAL_MS: "100" };
const store = memoryRouteStore();
const registry = useRegistry({ routeStore: store, env });

async function expectEqual(of: Client = registry, routeStore = store): Promise<void> {
  const desired = await current(of);
  await waitFor(async () => Bun.deepEquals(await projected(routeStore), desired), {
    what: `the route store to match the ${Object.keys(desired).length} services of the database`,
  });
}

// RG-80
test("keys that were deleted, changed or added by hand are corrected", async () => {
  const names = ["kept", "deleted", "corrupted", "changed", "tomb"];
  await registry.apply(Object.fromEntries(names.map((name) => [name, service(`/${name}`)])));
  await registry.call("DELETE", "/services/tomb");
  await expectEqual();
  await store.delete(`${ROUTES_PREFIX}deleted`);
  await store.put(`${ROUTES_PREFIX}corrupted`, "{not json");
  for (const name of ["changed", "tomb", "invented"]) {
    await store.put(`${ROUTES_PREFIX}${name}`, JSON.stringify(service(`/by-hand/${name}`)));
  }
  await store.put(`${ROUTES_PREFIX}no/service name`, "x");
  await store.put(ROUTES_PREFIX, "x");
  await expectEqual();
  // A service may later have a name whose key was added by hand.
  expect((await registry.put("invented", service("/invented/2"))).status).toBe(200);
  await expectEqual();
});

test("all keys are written again if they are lost, or only the fences", async () => {
  await registry.apply({ a: service("/a"), b: service("/b") });
  await expectEqual();
  for (const prefix of [ROUTES_PREFIX, FENCES_PREFIX]) {
    for (const { key } of (await store.list(prefix)).entries) await store.delete(key);
    await expectEqual();
  }
  await registry.put("a", service("/a/2"));
  await expectEqual();
});

test.each([
  ["is the greatest number", "9007199254740991"],
  ["is a little ahead of the database", String(Date.now() * 1_000 + 60_000_000)],
])("a fence that %s does not keep a service from being projected", async (_, fence) => {
  await registry.put("fenced", service("/fenced"));
  await expectEqual();
  await store.put(`${FENCES_PREFIX}fenced`, fence);
  await registry.put("fenced", service("/fenced/2"));
  await expectEqual();
  await store.put(`${FENCES_PREFIX}fenced`, fence);
  await store.put(`${ROUTES_PREFIX}fenced`, "corrupted");
  await expectEqual();
  await registry.call("DELETE", "/services/fenced");
  await expectEqual();
});

// RG-81
test.skipIf(!services().postgres.real)(
  "a database that was restored from an older backup is projected",
  async () => {
    await registry.apply({ a: service("/a/1"), b: service("/b/1"), c: service("/c/1") });
    await expectEqual();
    const before = await current(registry);
    await using database = closing(await openDatabase(registry.databaseUrl, { namespace: "test" }));
    const tables = ["writer", "services", "revisions", "route_tests", "owned_routes", "policies"];
    const inEach = (statement: (table: string) => string) =>
      database.transaction("restore", async (tx) => {
        for (const table of tables) await rows(tx, sql.raw(statement(table)));
      });
    await inEach((table) => `create table routes.backup_${table} as table routes.${table}`);
    await registry.apply({ a: service("/a/2"), d: service("/d") });
    await registry.call("DELETE", "/services/b");
    await expectEqual();
    await database.transaction("restore", async (tx) => {
      await rows(tx, sql.raw(`truncate ${tables.map((table) => `routes.${table}`).join(", ")}`));
      for (const table of tables) {
        await rows(tx, sql.raw(`insert into routes.${table} table routes.backup_${table}`));
      }
    });
    expect(await current(registry)).toEqual(before);
    await expectEqual();
    await registry.put("a", service("/a/3"));
    await expectEqual();
  },
);
