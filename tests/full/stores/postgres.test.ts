import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { type Database, openDatabase, rows, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { listenLocally } from "../../support/http/listen-locally.ts";
import { rejection, services, startPostgres, waitFor } from "../../support/index.ts";
import { useBreakable } from "./breakable.ts";

/** The options of a database whose calls have an early deadline. */
const hasty = { namespace: "suite", poolMax: 4, deadlineMs: 500 };

const select = (database: Database, text = "select 1 as one") =>
  database.run("select", (orm) => rows<Record<string, unknown>>(orm, sql.raw(text)));

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
});

describe.if(services().postgres.real)("database on a PostgreSQL that fails", () => {
  const open = async (url: string) => {
    const opened = await openDatabase(url, hasty);
    await select(opened, "create table survivors (id int primary key)");
    return opened;
  };
  const { server, store: database, returns } = useBreakable(startPostgres, open, (store) => select(store));

  test("is unavailable while the server is down, and recovers", async () => {
    await server.kill();
    expect(await rejection(database.ping(500))).toBeInstanceOf(StoreUnavailable);
    const burst = await Promise.all(Array.from({ length: 50 }, () => rejection(select(database))));
    expect(burst.every((error) => error instanceof StoreUnavailable)).toBe(true);
    await server.restart();
    await returns();
    const results = await Promise.all(Array.from({ length: 20 }, () => select(database)));
    expect(results).toEqual(Array(20).fill([{ one: 1 }]));
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
    // A session that was being opened may have been terminated too, and the pool then pauses before the next one.
    const results = await waitFor(() => Promise.all(Array.from({ length: 20 }, () => select(database))));
    expect(results).toEqual(Array(20).fill([{ one: 1 }]));
  });
});
