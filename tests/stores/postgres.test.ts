import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Database, openDatabase, rows, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { freshDatabase, rejection, services, waitFor } from "../support/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeMigrations } from "./migrations.ts";

const usual = { namespace: "suite", poolMax: 4 };
/** The options of a database whose calls have an early deadline. */
const hasty = { ...usual, deadlineMs: 500 };
/** The options of a database for which callers wait only briefly. */
const impatient = { ...usual, poolMax: 2, deadlineMs: 500 };

const select = (database: Database, text = "select 1 as one") =>
  database.run("select", (orm) => rows<Record<string, unknown>>(orm, sql.raw(text)));

describe.if(services().postgres.real)("database on PostgreSQL with many callers", () => {
  let url: string;
  let database: Database;

  beforeAll(async () => {
    url = await freshDatabase();
    database = await openDatabase(url, { namespace: "suite" });
  });
  afterAll(() => database.close());

  test("retries transactions with serialization failures until each is committed", async () => {
    await select(database, "create table counters as select 1 as id, 0 as value");
    const increment = () =>
      database.transaction(
        "increment",
        async (tx) => {
          const [row] = await rows<{ value: number }>(tx, sql`select value from counters`);
          await tx.execute(sql`update counters set value = ${(row?.value ?? 0) + 1}`);
        },
        { isolation: "serializable" },
      );
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, increment));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(Array(4).fill("fulfilled"));
    expect(await select(database, "select value from counters")).toEqual([{ value: 4 }]);
  });

  test("retries the victim of a deadlock", async () => {
    await select(database, "create table pairs as select id, 0 as value from generate_series(1, 2) as id");
    let attempts = 0;
    const bothHoldOne = Promise.withResolvers<void>();
    let holding = 0;
    const update = (first: number, second: number) =>
      database.transaction("update_pair", async (tx) => {
        attempts += 1;
        await tx.execute(sql`update pairs set value = value + 1 where id = ${first}`);
        holding += 1;
        if (holding === 2) bothHoldOne.resolve();
        await bothHoldOne.promise;
        await tx.execute(sql`update pairs set value = value + 1 where id = ${second}`);
      });
    await Promise.all([update(1, 2), update(2, 1)]);
    // Two attempts and at least one retry. A retry can deadlock again if it locks its row before the other
    // transaction continues.
    expect(attempts).toBeGreaterThanOrEqual(3);
    expect(await select(database, "select value from pairs")).toEqual([{ value: 2 }, { value: 2 }]);
  });

  test("cancels a statement that takes too long, and stays usable", async () => {
    const opened = await openDatabase(url, hasty);
    expect(await rejection(select(opened, "select pg_sleep(30)"))).toBeInstanceOf(StoreUnavailable);
    expect(await select(opened)).toEqual([{ one: 1 }]);
    const still =
      "select count(*) from pg_stat_activity where state = 'active' and query = 'select pg_sleep(30)'";
    await waitFor(async () => Bun.deepEquals(await select(opened, still), [{ count: 0 }]));
    await opened.close();
  });

  test("is unavailable for a caller when no connection becomes free in time", async () => {
    const small = await openDatabase(url, impatient);
    const finish = Promise.withResolvers<void>();
    let held = 0;
    const busy = [1, 2].map(() =>
      small.transaction(
        "hold",
        () => {
          held += 1;
          return finish.promise;
        },
        { deadlineMs: 60_000 },
      ),
    );
    await waitFor(() => held === 2);
    expect(await rejection(select(small))).toBeInstanceOf(StoreUnavailable);
    await small.ping(2_000);
    finish.resolve();
    await Promise.all(busy);
    expect(await select(small)).toEqual([{ one: 1 }]);
    await small.close();
  });

  test("keeps a connection free for other callers during exports", async () => {
    const small = await openDatabase(url, impatient);
    const numbers = () =>
      small.stream("export", sql`select generate_series(1, 100)`, 10)[Symbol.asyncIterator]();
    const first = numbers();
    await first.next();
    expect(await rejection(numbers().next())).toBeInstanceOf(StoreUnavailable);
    expect(await select(small)).toEqual([{ one: 1 }]);
    await first.return?.();
    const second = numbers();
    expect((await second.next()).done).toBe(false);
    await second.return?.();
    await small.close();
  });

  test("refuses a statement after its unit of work has ended", async () => {
    const leaked = await database.run("leak", async (orm) => orm);
    const error = await rejection(Promise.resolve(leaked.execute(sql`select 1`)));
    expect(Bun.inspect(error)).toContain("unit of work had ended");
  });

  // OP-16
  test("migrates an empty database from four replicas at once", async () => {
    const folder = temporaryFolder("migrations");
    await writeMigrations(folder, {
      "0000_first": "create table replicas.events (id int primary key);",
      "0001_second": "insert into replicas.events values (1);",
    });
    const empty = await freshDatabase();
    const replicas = await Promise.all([1, 2, 3, 4].map(() => openDatabase(empty, usual)));
    await Promise.all(replicas.map((replica) => replica.migrate("replicas", folder)));
    const found = replicas.map((replica) => select(replica, "select id from replicas.events"));
    expect(await Promise.all(found)).toEqual(Array(4).fill([{ id: 1 }]));
    await Promise.all(replicas.map((replica) => replica.close()));
  });
});
