import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { type Database, openDatabase, rows, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { listenLocally } from "../support/http/listen-locally.ts";
import { freePort, freshDatabase, rejection, services, startPostgres, waitFor } from "../support/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { useBreakable } from "./breakable.ts";
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

  test("retries a transaction that always conflicts only five times", async () => {
    let attempts = 0;
    const hopeless = database.transaction("conflict", async (tx) => {
      attempts += 1;
      await tx.execute(sql`do $$ begin raise exception using errcode = '40001'; end $$`);
    });
    await rejection(hopeless);
    expect(attempts).toBe(6);
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

describe("database on PostgreSQL that cannot be reached", () => {
  const authenticated = Buffer.from(
    "520000000800000000" + "4b0000000c0000000100000002" + "5a0000000549",
    "hex",
  );
  test.each<[string, (socket: Socket) => void]>([
    ["the server accepts connections and never responds", () => {}],
    [
      "connections are reset after the first message",
      (socket) =>
        socket.once("data", () => {
          socket.write(authenticated);
          socket.once("data", () => socket.resetAndDestroy());
        }),
    ],
  ])("refuses to open when %s", async (_, accept) => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      accept(socket);
    });
    const opening = openDatabase(`postgres://nobody@127.0.0.1:${await listenLocally(server)}/none`, hasty);
    expect(await rejection(opening)).toBeInstanceOf(StoreUnavailable);
    server.close();
  });

  test("refuses to open when nothing listens", async () => {
    const opening = openDatabase(`postgres://nobody@127.0.0.1:${freePort()}/none`, hasty);
    expect(await rejection(opening)).toBeInstanceOf(StoreUnavailable);
  });

  test.if(services().postgres.real)("refuses to open a database that does not exist", async () => {
    const url = new URL(await freshDatabase());
    url.pathname = "/no_such_database";
    expect(await rejection(openDatabase(url.href, hasty))).toBeInstanceOf(StoreUnavailable);
  });

  test("refuses to open a URL of another kind", async () => {
    expect(await rejection(openDatabase("mysql://localhost/x", hasty))).toBeInstanceOf(TypeError);
    expect(await rejection(openDatabase("pglite://relative/directory", hasty))).toBeInstanceOf(TypeError);
  });
});

describe.if(services().postgres.own)("database on a PostgreSQL that fails", () => {
  const open = async (url: string) => {
    const opened = await openDatabase(url, hasty);
    await select(opened, "create table survivors (id int primary key)");
    return opened;
  };
  const { server, store: database, returns } = useBreakable(startPostgres, open, (store) => select(store));

  test("is unavailable while the server is down, and recovers", async () => {
    await server.kill();
    for (let time = 0; time < 10; time++) {
      expect(await rejection(select(database))).toBeInstanceOf(StoreUnavailable);
      expect(await rejection(database.ping(500))).toBeInstanceOf(StoreUnavailable);
    }
    const burst = await Promise.all(Array.from({ length: 50 }, () => rejection(select(database))));
    expect(burst.every((error) => error instanceof StoreUnavailable)).toBe(true);
    await server.restart();
    await returns();
    const answers = await Promise.all(Array.from({ length: 20 }, () => select(database)));
    expect(answers).toEqual(Array(20).fill([{ one: 1 }]));
  });

  test("rolls back transactions that were open when the server died", async () => {
    const inside = Promise.withResolvers<void>();
    const died = Promise.withResolvers<void>();
    const transaction = database.transaction("insert", async (tx) => {
      await tx.execute(sql`insert into survivors values (1)`);
      inside.resolve();
      await died.promise;
      await tx.execute(sql`insert into survivors values (2)`);
    });
    const outcome = rejection(transaction);
    await inside.promise;
    const statements = Array.from({ length: 3 }, () => rejection(select(database, "select pg_sleep(20)")));
    await server.kill();
    died.resolve();
    expect(await outcome).toBeInstanceOf(StoreUnavailable);
    for (const error of await Promise.all(statements)) expect(error).toBeInstanceOf(StoreUnavailable);
    await server.restart();
    await returns();
    expect(await select(database, "select count(*) from survivors")).toEqual([{ count: 0 }]);
  });

  test("lets a stream fail when the server dies", async () => {
    const read = async () => {
      for await (const batch of database.stream("export", sql`select generate_series(1, 1000)`, 10)) {
        if (batch.length === 10) await server.kill();
      }
    };
    expect(await rejection(read())).toBeInstanceOf(StoreUnavailable);
    await server.restart();
    await returns();
  });

  test("is unavailable while the server is frozen, and recovers", async () => {
    await server.freeze();
    expect(await rejection(database.ping(200))).toBeInstanceOf(StoreUnavailable);
    const waiting = await Promise.all(Array.from({ length: 12 }, () => rejection(select(database))));
    expect(waiting.every((error) => error instanceof StoreUnavailable)).toBe(true);
    const transaction = database.transaction("insert", (tx) =>
      tx.execute(sql`insert into survivors values (9)`),
    );
    expect(await rejection(transaction)).toBeInstanceOf(StoreUnavailable);
    await server.thaw();
    await returns();
    await waitFor(() => database.ping(500).then(() => true));
  });

  test("survives the loss of single connections", async () => {
    for (let time = 0; time < 5; time++) {
      await rejection(select(database, "select pg_terminate_backend(pg_backend_pid())"));
      await returns();
    }
    await select(
      database,
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null",
    );
    await returns();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => select(database).catch(() => select(database))),
    );
    expect(answers).toEqual(Array(20).fill([{ one: 1 }]));
  });
});
