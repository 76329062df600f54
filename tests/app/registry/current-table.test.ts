/**
 * Tests that the route look-up table equals a table that reads everything, although it reads only the writes
 * since its last read.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { CurrentTable } from "../../../apps/registry/lookup/current-table.ts";
import { closing, duringTests } from "../../support/during-tests.ts";
import { runs } from "../../support/runs.ts";
import { services } from "../../support/stores/services.ts";
import { useRegistry } from "./bed.ts";

setDefaultTimeout(120_000);

const registry = useRegistry();
const database = duringTests(async () =>
  closing(await openDatabase(registry.databaseUrl, { namespace: "test", poolMax: 8 })),
);

const NAMES = ["alpha", "beta", "gamma", "delta"];

function configOf(service: string, routes: number) {
  const paths = Array.from({ length: routes }, (_, index) => `/${service}/things-${index}`);
  return {
    url: "http://127.0.0.1:9",
    public: { routes: paths.map((path) => ({ path, methods: ["GET"], rate_limit: false })) },
  };
}

function contentOf(table: CurrentTable) {
  const routes = table.table.routes.map(({ method, path, service }) => `${service} ${method} ${path}`);
  return {
    fence: table.fence,
    routes: routes.toSorted(),
    services: Object.fromEntries([...table.services].toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };
}

async function fromScratch() {
  const table = new CurrentTable(database);
  await table.read();
  return contentOf(table);
}

/** Runs `work`, and then restores the tables to their state before it, like a restored backup. */
async function putBackAfter(work: () => Promise<unknown>): Promise<void> {
  const tables = ["writer", "services", "revisions", "owned_routes", "route_tests"];
  await database.transaction("keep", async (tx) => {
    for (const table of tables) {
      await rows(tx, sql.raw(`create table kept_${table} as table routes.${table}`));
    }
  });
  await work();
  await database.transaction("put_back", async (tx) => {
    const named = tables.map((table) => `routes.${table}`);
    await rows(tx, sql.raw(`truncate ${named.join(", ")} cascade`));
    for (const table of tables) {
      await rows(tx, sql.raw(`insert into routes.${table} select * from kept_${table}`));
      await rows(tx, sql.raw(`drop table kept_${table}`));
    }
  });
}

const step = fc.oneof(
  fc.record({ kind: fc.constant("put"), names: fc.subarray(NAMES, { minLength: 1 }), routes: fc.nat(3) }),
  fc.record({ kind: fc.constant("delete"), names: fc.subarray(NAMES, { minLength: 1 }), routes: fc.nat(0) }),
  fc.record({ kind: fc.constant("read"), names: fc.constant([]), routes: fc.nat(0) }),
);

describe.skipIf(!services().postgres.real)("the table of current services", () => {
  test("equals a table that reads everything, after any sequence of writes", async () => {
    const table = new CurrentTable(database);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
        for (const { kind, names, routes } of steps) {
          if (kind === "put") {
            const given = names.map((name) => [name, configOf(name, routes)]);
            expect((await registry.apply(Object.fromEntries(given))).status).toBe(200);
          }
          for (const name of kind === "delete" ? names : [])
            await registry.call("DELETE", `/services/${name}`);
          if (kind === "read") await table.read();
        }
        await table.read();
        expect(contentOf(table)).toEqual(await fromScratch());
      }),
      { numRuns: runs(4) },
    );
  });

  test("never replaces later changes with earlier ones", async () => {
    await registry.apply({ alpha: configOf("alpha", 1) });
    const [beforeFirst, afterSecond] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const gates = [
      { before: undefined, after: undefined },
      { before: beforeFirst.promise, after: undefined },
      { before: undefined, after: afterSecond.promise },
    ];
    const asked = Promise.withResolvers<void>();
    const run: typeof database.run = async (operation, work) => {
      const gate = gates.shift();
      await gate?.before;
      const result = await database.run(operation, work);
      if (gate?.after !== undefined) asked.resolve();
      await gate?.after;
      return result;
    };
    const table = new CurrentTable(Object.create(database, { run: { value: run } }));
    await table.read();
    await registry.apply({ alpha: configOf("alpha", 2) });
    const first = table.read();
    const second = table.read();
    await asked.promise;
    await registry.call("DELETE", "/services/alpha");
    beforeFirst.resolve();
    await first;
    afterSecond.resolve();
    await second;
    expect(contentOf(table)).toEqual(await fromScratch());
  });

  test("reads everything again if the database was restored to an earlier state", async () => {
    await registry.apply({ alpha: configOf("alpha", 1), beta: configOf("beta", 1) });
    const before = await fromScratch();
    const table = new CurrentTable(database);
    await putBackAfter(async () => {
      await registry.call("DELETE", "/services/alpha");
      await registry.apply({ beta: configOf("beta", 3), newcomer: configOf("newcomer", 2) });
      await table.read();
      expect(contentOf(table)).not.toEqual(before);
    });
    await table.read();
    expect(contentOf(table)).toEqual(before);
  });

  test("skips services that gateways skip, until they can be read", async () => {
    await registry.apply({ alpha: configOf("alpha", 2), beta: configOf("beta", 2) });
    const table = new CurrentTable(database);
    await table.read();
    const newest = sql`service = 'beta' and revision = (select revision from routes.services where name = 'beta')`;
    const unknownPolicy = {
      url: "http://a:1",
      public: { routes: [{ path: "/b", methods: ["GET"], rate_limit: "x" }] },
    };
    for (const config of [{ url: 7, public: 7 }, unknownPolicy, { ...configOf("beta", 3), later: true }]) {
      await registry.apply({ beta: configOf("beta", 3) });
      await database.run("break", (orm) =>
        rows(
          orm,
          sql`update routes.revisions set config = ${JSON.stringify(config)}::text::json where ${newest}`,
        ),
      );
      await table.read();
      expect(contentOf(table)).toEqual(await fromScratch());
      expect(table.services.has("beta")).toBe(false);
      expect(table.services.has("alpha")).toBe(true);
    }
    await registry.apply({ beta: configOf("beta", 1) });
    await table.read();
    expect(table.services.has("beta")).toBe(true);
    expect(contentOf(table)).toEqual(await fromScratch());
  });
});
