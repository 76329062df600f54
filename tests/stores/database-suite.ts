import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
  prepared,
  rows,
  type StoreOperation,
  StoreUnavailable,
  sqlState,
} from "@ostiary/lib/runtime/stores/database";
import { eq, sql } from "drizzle-orm";
import { pgTable, text, timestamp } from "drizzle-orm/pg-core";
import { jsonLines } from "../../lib/runtime/telemetry/line-format.ts";
import { rejection } from "../support/index.ts";
import { describeMigrating } from "./migrating-suite.ts";

/** Defines the tests that every adapter of the database must pass. `url` is called once. */
export function describeDatabase(adapter: string, url: () => Promise<string>): void {
  // OP-12
  describe(`database on ${adapter}`, () => {
    const operations: StoreOperation[] = [];
    let address: string;
    let database: Database;

    const open = (options: Partial<DatabaseOptions> = {}) =>
      openDatabase(address, {
        namespace: "suite",
        observer: (each) => operations.push(each),
        ...options,
      });
    const execute = (text: string) => database.run("execute", (orm) => orm.execute(sql.raw(text)));

    beforeAll(async () => {
      address = await url();
      database = await open();
    });
    afterAll(() => database.close());

    test("returns rows in the same form with every adapter", async () => {
      const statement = sql`select 1::int8 as small, 9223372036854775807::int8 as large, count(*), 1.50::numeric as amount,
        '2026-01-31T12:00:00.5Z'::timestamptz as moment, '2026-01-31'::date as day, array['a','b \\ " , {}',null,''] as list, '{}'::text[] as none,
        '{"x":[1]}'::jsonb as document, '"text"'::jsonb as scalar, null::text as nothing, true as flag, 1.5::float8 as ratio`;
      expect(await database.run("select_all", (orm) => rows(orm, statement))).toEqual([
        {
          small: 1,
          large: 9223372036854775807n,
          count: 1,
          amount: "1.50",
          moment: "2026-01-31 12:00:00.5+00",
          day: "2026-01-31",
          list: ["a", 'b \\ " , {}', null, ""],
          none: [],
          document: { x: [1] },
          scalar: "text",
          nothing: null,
          flag: true,
          ratio: 1.5,
        },
      ]);
    });

    // OP-121
    test.each([
      ["a unique constraint", "23505", sql`insert into sealed values (${"hunter2"}), (${"hunter2"})`],
      ["a check", "23514", sql`insert into sealed values (${"hunter2, but too long"})`],
      ["a cast", "22P02", sql`select ${"hunter2"}::integer`],
      ["the syntax", "42601", sql`selec ${"hunter2"}`],
    ])("logs a query that %s refuses by its name and SQLSTATE, without its data", async (_, state, query) => {
      await execute("create table if not exists sealed (salt text primary key check (length(salt) < 10))");
      const failures = [
        await rejection(database.run("write_salt", (orm) => orm.execute(query))),
        await rejection(database.transaction("write_salt", (tx) => tx.execute(query))),
      ];
      for (const err of failures) {
        expect(sqlState(err)).toBe(state);
        const logged = jsonLines("test")("warn", { err }, "failed");
        expect(logged).toContain(`write_salt failed (SQLSTATE ${state})`);
        expect(logged).not.toMatch(/hunter2|insert|select|detail/i);
      }
    });

    test("runs a prepared query with the values of each call, also in a transaction", async () => {
      await execute("create table pears (id text primary key, picked_at timestamptz(3))");
      const pears = pgTable("pears", {
        id: text().primaryKey(),
        picked_at: timestamp({ withTimezone: true, precision: 3, mode: "date" }),
      });
      const pearById = prepared((orm) =>
        orm
          .select({ id: pears.id, picked_at: pears.picked_at, ripe: sql<boolean>`true`.as("ripe") })
          .from(pears)
          .where(eq(pears.id, sql.placeholder("id"))),
      );
      const picked_at = new Date("2026-01-31T12:00:00.500Z");
      const found = await database.transaction("prepared", async (tx) => {
        await tx.insert(pears).values([{ id: "conference", picked_at }, { id: "williams" }]);
        return Promise.all(["conference", "williams", "nashi"].map((id) => pearById(tx, { id })));
      });
      expect(found).toEqual([
        [{ id: "conference", picked_at, ripe: true }],
        [{ id: "williams", picked_at: null, ripe: true }],
        [],
      ]);
      expect(await database.run("prepared", (orm) => pearById(orm, { id: "williams" }))).toHaveLength(1);
      await execute("drop table pears");
    });

    test("commits a transaction that resolves, and rolls back one that rejects", async () => {
      await execute("create table kept (id int primary key)");
      const result = await database.transaction("insert", async (tx) => {
        await tx.execute(sql`insert into kept values (1)`);
        return "done";
      });
      expect(result).toBe("done");
      const refused = database.transaction("insert", async (tx) => {
        await tx.execute(sql`insert into kept values (2)`);
        throw new RangeError("no");
      });
      await expect(refused).rejects.toThrow(RangeError);
      expect(await database.run("select", (orm) => rows(orm, sql`select id from kept`))).toEqual([{ id: 1 }]);
    });

    test("does not change errors of the caller's own work, even if they look like a connection error", async () => {
      const own = Object.assign(new Error("Another service is down."), { code: "ECONNREFUSED" });
      const wrapped = new Error("Not found.", { cause: new StoreUnavailable("route_store", own) });
      for (const error of [own, wrapped]) {
        expect(await rejection(database.run("fail", () => Promise.reject(error)))).toBe(error);
        expect(await rejection(database.transaction("fail", () => Promise.reject(error)))).toBe(error);
      }
      await database.ping(5_000);
    });

    test("refuses the use of the database inside an open transaction", async () => {
      for (const inner of [database, database.scoped("other", () => {})]) {
        const nested = database.transaction("outer", () => inner.run("inner", async () => 1));
        await expect(nested).rejects.toThrow("Inside a transaction");
      }
      const twice = database.transaction("outer", () => database.transaction("inner", async () => 1));
      await expect(twice).rejects.toThrow("Inside a transaction");
    });

    // RG-53, ID-104
    test("runs transactions of one lane in order, and refuses one if too many wait", async () => {
      const small = await open({ poolMax: 5, laneWaitingMax: 3 });
      const order: number[] = [];
      const inside = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const write = (number: number) =>
        small.transaction("write", async () => void order.push(number), { lane: "busy" });
      const holder = small.transaction(
        "hold",
        () => {
          inside.resolve();
          return gate.promise;
        },
        { lane: "busy" },
      );
      await inside.promise;
      const waiting = [1, 2, 3].map(write);
      const refused = await rejection(write(4));
      expect(refused).toBeInstanceOf(StoreUnavailable);
      expect(refused).toMatchObject({ retry_after_seconds: 1 });
      gate.resolve();
      await Promise.all([holder, ...waiting]);
      await Promise.all([5, 6].map(write));
      expect(order).toEqual([1, 2, 3, 5, 6]);
      await small.close();
    });

    describe("streaming", () => {
      const numbers = sql`select id from series where id > ${0} order by id`;

      beforeAll(async () => {
        await execute("create table series as select generate_series(1, 1000) as id");
      });

      test("returns every row once, in batches", async () => {
        const sizes: number[] = [];
        const ids: unknown[] = [];
        for await (const batch of database.stream<{ id: number }>("export", numbers, 333)) {
          sizes.push(batch.length);
          ids.push(...batch.map((row) => row.id));
        }
        expect(sizes).toEqual([333, 333, 333, 1]);
        expect(ids).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
      });

      test("does not block writers, and returns the rows as of its start", async () => {
        let found = 0;
        for await (const batch of database.stream("export", numbers, 100)) {
          if (found === 0) await execute("insert into series select generate_series(2001, 2100)");
          found += batch.length;
        }
        await execute("delete from series where id > 1000");
        expect(found).toBe(1000);
      });
    });

    describeMigrating(() => database);

    test("calls its observer for each operation, with duration and failure", async () => {
      operations.length = 0;
      await database.run("select_one", async () => 1);
      await database.transaction("fail_on_purpose", () => Promise.reject(new Error("no"))).catch(() => {});
      const common = { system: "postgresql", namespace: "suite", duration_ms: expect.any(Number) };
      expect(operations).toEqual([
        { ...common, operation: "select_one", failed: false },
        { ...common, operation: "fail_on_purpose", failed: true, errorType: "Error" },
      ]);
    });

    test("returns scoped views with their own namespace, and stays open when a view is closed", async () => {
      const seen: StoreOperation[] = [];
      operations.length = 0;
      const view = database.scoped("other", (operation) => seen.push(operation));
      await view.run("select_one", async () => 1);
      await view.close();
      expect(seen.map(({ namespace, operation }) => [namespace, operation])).toEqual([
        ["other", "select_one"],
      ]);
      expect(operations).toEqual([]);
      await database.ping(5_000);
    });

    test("is unavailable once closed", async () => {
      const closed = await open();
      await closed.close();
      const selecting = closed.run("select", (orm) => orm.execute(sql`select 1`));
      await expect(selecting).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(closed.ping(1_000)).rejects.toBeInstanceOf(StoreUnavailable);
    });
  });
}
