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
} from "../../support/index.ts";

/** Deadlines that pass soon. */
const HASTY = { deadlineMs: 1_500, progressMs: 4_000 };
/** The sessions of other clients on this database. The test's own connections have the name `direct`. */
const CLIENTS = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'ostiary'`;

describe.skipIf(!services().postgres.real)("silent connections to PostgreSQL", () => {
  let url: string;
  let direct: Database;
  let proxy: NetworkProxy;
  let database: Database;

  beforeAll(async () => {
    url = await freshDatabase();
    direct = await openDatabase(`${url}?application_name=direct`, { namespace: "suite", poolMax: 2 });
    await run(direct, "create table counters as select 1 as id, 0 as value");
  });
  afterAll(() => direct.close());

  beforeEach(async () => {
    await run(direct, "update counters set value = 0");
    proxy = await startProxy(url);
    database = await openDatabase(proxy.url, { namespace: "suite", poolMax: 4, ...HASTY });
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
  /** Resolves once calls succeed again. */
  const returns = () =>
    waitFor(() => run(database, "select 1").then(() => true), { what: "a call that succeeds" });

  describe.each(["stall", "forget"] as const)("(%s)", (ending) => {
    // OP-18
    test("fail their calls at the deadline, and later calls use new connections", async () => {
      proxy[ending]();
      const settled = await Promise.allSettled(Array.from({ length: 20 }, () => run(database, "select 1")));
      for (const each of settled) {
        if (each.status === "rejected") expect(each.reason).toBeInstanceOf(StoreUnavailable);
      }
      await returns();
      const results = await Promise.all(Array.from({ length: 20 }, () => run(database, "select 1 as one")));
      expect(results).toEqual(Array(20).fill([{ one: 1 }]));
      await database.ping(5_000);
    });

    // OP-18
    test("fail a transaction before its COMMIT, without an effect and without a lock", async () => {
      const { done, attempts } = increment(() => proxy[ending]());
      expect(await rejection(done)).toBeInstanceOf(StoreUnavailable);
      expect(attempts()).toBe(1);
      await returns();
      await increment().done;
      expect(await value()).toBe(1);
    });
  });

  // OP-18
  test("let a transaction fail during its COMMIT, because its outcome is unknown", async () => {
    let attempts = 0;
    const lost = database.transaction("increment", async (tx) => {
      attempts += 1;
      await tx.execute(sql`update counters set value = value + 1`);
      proxy.stall();
    });
    expect(await rejection(lost)).toBeInstanceOf(StoreUnavailable);
    expect(attempts).toBe(1);
    // The failed transaction has released its lock, so another transaction can write the same row.
    await returns();
    await increment().done;
    expect(await value()).toBe(1);
  });

  // OP-18
  test("while the server is silent as a whole, calls fail at once after the first ones", async () => {
    proxy.swallow();
    await rejection(run(database, "select 1"));
    await waitFor(async () => {
      const made = proxy.made();
      await Promise.all(Array.from({ length: 200 }, () => rejection(run(database, "select 1"))));
      return proxy.made() - made < 10;
    });
    proxy.heal();
    await returns();
  });

  // OP-18
  test("are not confused with a statement that is slow or waits for a lock: its call alone is canceled", async () => {
    const pids = async () => new Set((await run(direct, CLIENTS)).map(({ pid }) => pid));
    const before = await pids();
    const gate = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holder = database.transaction(
      "hold",
      async (tx) => {
        await tx.execute(sql`update counters set value = 10`);
        locked.resolve();
        await gate.promise;
      },
      { deadlineMs: 30_000 },
    );
    await locked.promise;
    const beside = database.run("sleep", (orm) => orm.execute(sql`select pg_sleep(3)`), {
      deadlineMs: 30_000,
    });
    expect(await rejection(increment().done)).toBeInstanceOf(StoreUnavailable);
    await waitFor(async () => {
      const now = await pids();
      return [...before].filter((pid) => !now.has(pid)).length === 1;
    });
    gate.resolve();
    await Promise.all([holder, beside]);
    expect(await value()).toBe(10);
  });

  // OP-18
  test("a connection that is reset costs one retry of a transaction that was not committed yet", async () => {
    const { done, attempts } = increment((attempt) => {
      if (attempt > 1) return;
      proxy.cut();
      proxy.heal();
    });
    await done;
    expect(attempts()).toBe(2);
    expect(await value()).toBe(1);
  });
});
