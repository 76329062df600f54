/**
 * Tests of connections to PostgreSQL that no longer respond, as after a failover or when a router forgot
 * their state. New connections work.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Database, openDatabase, rows, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import {
  freshDatabase,
  type Proxy as NetworkProxy,
  rejection,
  services,
  startProxy,
  waitFor,
} from "../support/index.ts";

describe.skipIf(!services().postgres.real)("silent connections to PostgreSQL", () => {
  let url: string;
  let direct: Database;
  let proxy: NetworkProxy;
  let database: Database;

  beforeAll(async () => {
    url = await freshDatabase();
    direct = await openDatabase(url, { namespace: "suite", poolMax: 2 });
    await run(direct, "create table counters as select 1 as id, 0 as value");
  });
  afterAll(() => direct.close());

  beforeEach(async () => {
    await run(direct, "update counters set value = 0");
    proxy = await startProxy(url);
    database = await openDatabase(proxy.url, { namespace: "suite", poolMax: 4 });
  });
  afterEach(async () => {
    await database.close();
    await proxy.close();
  });

  const run = (on: Database, text: string) =>
    on.run("run", (orm) => rows<Record<string, unknown>>(orm, sql.raw(text)));
  const value = async () => (await run(direct, "select value from counters"))[0]?.value;
  const increment = (work: (attempt: number) => void = () => {}) => {
    let attempts = 0;
    const done = database.transaction("increment", async (tx) => {
      attempts += 1;
      await tx.execute(sql`update counters set value = value + 1`);
      work(attempts);
      await tx.execute(sql`select 1`);
    });
    return { done, attempts: () => attempts };
  };
  /** Returns the number of the server's processes that serve connections of `database`. */
  const backends = async () => {
    const [row] = await run(
      direct,
      `select count(*) from pg_stat_activity where datname = current_database() and application_name not in
       (select application_name from pg_stat_activity where pid = pg_backend_pid())`,
    );
    return row?.count;
  };

  describe.each(["stall", "forget"] as const)("(%s)", (ending) => {
    // OP-18
    test("are replaced, and reads succeed late over new ones", async () => {
      proxy[ending]();
      const answers = await Promise.all(Array.from({ length: 40 }, () => run(database, "select 1 as one")));
      expect(answers).toEqual(Array(40).fill([{ one: 1 }]));
      await database.ping(5_000);
    });

    // OP-18
    test("cause one retry of a transaction that was not committed yet", async () => {
      const { done, attempts } = increment((attempt) => {
        if (attempt === 1) proxy[ending]();
      });
      await done;
      expect(attempts()).toBe(2);
      expect(await value()).toBe(1);
    });

    test("do not cost an attempt of a transaction that starts on them", async () => {
      proxy[ending]();
      const { done, attempts } = increment();
      await done;
      expect(attempts()).toBe(1);
      expect(await value()).toBe(1);
    });

    // OP-18
    test("let a transaction fail during its COMMIT, because its outcome is unknown", async () => {
      let attempts = 0;
      const lost = database.transaction("increment", async (tx) => {
        attempts += 1;
        await tx.execute(sql`update counters set value = value + 1`);
        proxy[ending]();
      });
      expect(await rejection(lost)).toBeInstanceOf(StoreUnavailable);
      expect(attempts).toBe(1);
      // The failed transaction has released its lock, so another transaction can write the same row.
      await increment().done;
      expect(await value()).toBe(1);
    });

    test("let a stream fail without a retry", async () => {
      let found = 0;
      const read = async () => {
        for await (const batch of database.stream("export", sql`select generate_series(1, 1000)`, 10)) {
          found += batch.length;
          if (found === 50) proxy[ending]();
        }
      };
      expect(await rejection(read())).toBeInstanceOf(StoreUnavailable);
      expect(found).toBeLessThan(1_000);
    });

    test("are noticed while a slow statement runs", async () => {
      const started = performance.now();
      const slow = run(database, "select pg_sleep(1)");
      await waitFor(async () => {
        const [row] = await run(direct, "select count(*) from pg_stat_activity where wait_event = 'PgSleep'");
        return row?.count === 1;
      });
      proxy[ending]();
      // The statement is retried if its deadline allows it. Otherwise it fails with StoreUnavailable.
      await slow.catch((error) => expect(error).toBeInstanceOf(StoreUnavailable));
      // Without a check of the server's processes, only the timeout of eleven seconds would end the wait.
      expect(performance.now() - started).toBeLessThan(9_000);
      await run(database, "select 1");
    });

    test("are also replaced during a statement of several megabytes", async () => {
      const text = "x".repeat(3_000_000);
      const length = () => database.run("length", (orm) => rows(orm, sql`select length(${text}) as length`));
      await length();
      proxy[ending]();
      expect(await length()).toEqual([{ length: text.length }]);
    });
  });

  test("leave no process on the server", async () => {
    expect(await backends()).toBe(4);
    proxy.stall();
    await run(database, "select 1");
    await waitFor(async () => Number(await backends()) <= 2, {
      timeoutMs: 25_000,
      what: "the end of the silent connections",
    });
  });

  test("are not confused with connections whose statement is slow or waits for a lock", async () => {
    const pids = async () => {
      const found = await Promise.all(
        Array.from({ length: 20 }, () => run(database, "select pg_backend_pid() as pid")),
      );
      return new Set(found.map(([row]) => row?.pid));
    };
    const before = await pids();
    const gate = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = direct.transaction("hold", async (tx) => {
      await tx.execute(sql`update counters set value = 10`);
      locked.resolve();
      await gate.promise;
    });
    await locked.promise;
    const waiting = increment();
    await run(database, "select pg_sleep(3)");
    gate.resolve();
    await Promise.all([holder, waiting.done]);
    expect(waiting.attempts()).toBe(1);
    expect(await value()).toBe(11);
    expect([...(await pids())].filter((pid) => !before.has(pid))).toEqual([]);
  });

  test("are not suspected behind a pooler that hides the server's process ids", async () => {
    const keyData = Buffer.from([0x4b, 0, 0, 0, 12]);
    const pooler = await startProxy(url, (said) => {
      const at = said.indexOf(keyData);
      if (at >= 0) said.writeUInt32BE(4_000_000_000, at + keyData.length);
    });
    const pooled = await openDatabase(pooler.url, { namespace: "suite", poolMax: 1 });
    const pid = () => run(pooled, "select pg_backend_pid() as pid");
    const before = await pid();
    await pooled.transaction("slow", (tx) => tx.execute(sql`select pg_sleep(2)`));
    expect(await pid()).toEqual(before);
    await pooled.close();
    await pooler.close();
  });
});
