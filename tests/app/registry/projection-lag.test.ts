/** Tests how long the route store has lacked a write, by the clock of the database. */
import { expect, test } from "bun:test";
import { FENCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";
import { type Database, openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { memoryRouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { sql } from "drizzle-orm";
import { closing } from "../../support/during-tests.ts";
import { forwarding } from "../../support/gateway/loading-gateway.ts";
import { services } from "../../support/stores/services.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { service, useRegistry } from "./bed.ts";

const store = memoryRouteStore();
let full = false;
const registry = useRegistry({
  routeStore: {
    ...forwarding(store),
    writeFenced: async (write) => {
      const recorded = await store.get(write.fence.key);
      if (Number(recorded?.value ?? 0) > write.fence.value) return false;
      if (full) throw new Error("no space for the key");
      return store.writeFenced(write);
    },
  },
  env: { RECONCILE_FULL_INTERVAL_MS: "100" },
});

const outstanding = async (): Promise<{ service: string; age_seconds: number }[]> =>
  (await registry.call("GET", "/projections")).body.outstanding;
const untilProjected = () => waitFor(async () => (await outstanding()).length === 0);

/** Moves the time since when the projection of a service is outstanding into the past. */
const ageIn = (database: Database) => (name: string, seconds: number) =>
  database.run("age", (orm) =>
    rows(
      orm,
      sql`update routes.services set outstanding_since = outstanding_since - ${seconds} * interval '1 second'
          where name = ${name}`,
    ),
  );

// RG-83
test.skipIf(!services().postgres.real)(
  "the age of an outstanding projection counts from the first write that is missing, and never below 0",
  async () => {
    await using database = closing(await openDatabase(registry.databaseUrl, { namespace: "test" }));
    const age = ageIn(database);
    for (const name of ["old", "new"]) await registry.put(name, service(`/${name}/1`));
    await untilProjected();
    // Times of earlier projections do not count.
    for (const name of ["old", "new"]) await age(name, 5_000);
    full = true;
    for (const name of ["new", "old"]) await registry.put(name, service(`/${name}/2`));
    await age("old", 100);
    await registry.put("old", service("/old/3"));
    const [first, second, ...more] = await outstanding();
    expect([first?.service, second?.service, more]).toEqual(["old", "new", []]);
    expect(first?.age_seconds).toBeWithin(100, 1_000);
    expect(second?.age_seconds).toBeWithin(0, 900);
    await age("new", -86_400);
    expect((await outstanding()).map(({ age_seconds }) => age_seconds > 0)).toEqual([true, false]);
    full = false;
    await untilProjected();
  },
);

// RG-83
test.skipIf(!services().postgres.real)(
  "the age of an outstanding projection stays when the registry raises its fence above that of the route store",
  async () => {
    await using database = closing(await openDatabase(registry.databaseUrl, { namespace: "test" }));
    const age = ageIn(database);
    for (const name of ["late", "projected"]) await registry.put(name, service(`/${name}/1`));
    await untilProjected();
    for (const name of ["late", "projected"]) await age(name, 5_000);
    full = true;
    await registry.put("late", service("/late/2"));
    await age("late", 100);
    const ahead = Date.now() * 1_000 + 60_000_000;
    for (const name of ["late", "projected"]) {
      await store.put(`${FENCES_PREFIX}${name}`, String(ahead));
      await store.put(`${ROUTES_PREFIX}${name}`, "changed");
    }
    const raised = () =>
      database.run("raised", (orm) => rows(orm, sql`select from routes.services where fence > ${ahead}`));
    await waitFor(async () => (await raised()).length === 2);
    const [first, second] = await outstanding();
    expect([first?.service, second?.service]).toEqual(["late", "projected"]);
    expect(first?.age_seconds).toBeWithin(100, 1_000);
    expect(second?.age_seconds).toBeWithin(0, 100);
    full = false;
    await untilProjected();
  },
);
