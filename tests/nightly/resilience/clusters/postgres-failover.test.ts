/** Tests of a failover from a PostgreSQL primary to its standby. DATABASE_URL lists both. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Database, openDatabase, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { intent, requestId, startAudit } from "../../../app/audit/bed.ts";
import {
  type PostgresPair,
  rejection,
  services,
  startPostgresPair,
  startProxy,
  waitFor,
} from "../../../support/index.ts";

/** The maximum time from a promotion to the first successful write, which the product promises. */
const BACK_MS = 15_000;
/** The maximum time after which a write fails while no server accepts writes: its deadline, and some slack. */
const REFUSED_MS = 7_000;

describe.skipIf(!services().postgres.binary)("DATABASE_URL with a primary and a standby", () => {
  let pair: PostgresPair;
  const opened: { close(): Promise<unknown> }[] = [];

  beforeEach(async () => {
    pair = await startPostgresPair();
    await pair.primary.ask("create table written (id text primary key)");
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
    await Promise.all([pair.primary.close(), pair.standby.close()]);
  });

  async function open(url = pair.url): Promise<Database> {
    const database = await openDatabase(url, { namespace: "test" });
    opened.push(database);
    return database;
  }

  const write = (database: Database, id: string) =>
    database.transaction("write", (tx) => tx.execute(sql`insert into written values (${id})`));

  async function writtenBackWithin(database: Database, id: string): Promise<void> {
    const promoted = performance.now();
    await waitFor(() => write(database, id).then(() => true), { timeoutMs: 30_000, what: "a write" });
    expect(performance.now() - promoted).toBeLessThan(BACK_MS);
  }

  async function refusedSoon(database: Database, id: string): Promise<void> {
    const asked = performance.now();
    expect(await rejection(write(database, id))).toBeInstanceOf(StoreUnavailable);
    expect(performance.now() - asked).toBeLessThan(REFUSED_MS);
  }

  const idsAt = async (node: PostgresPair["primary"]) =>
    (await node.ask("select id from written order by id")).map(({ id }) => id);

  test("replaces a frozen primary by the promoted standby, and stays there when it thaws", async () => {
    const database = await open();
    await write(database, "before");
    await pair.primary.freeze();
    const stuck = Promise.allSettled(["a", "b", "c"].map((id) => write(database, id)));
    await pair.standby.promote();
    await writtenBackWithin(database, "after");
    const settled = await stuck;
    await pair.primary.thaw();
    // The thawed server still reports that it is a primary. It must get no writes.
    await waitFor(async () => (await pair.primary.ask("select pg_is_in_recovery() as r"))[0]?.r === false);
    for (let count = 0; count < 20; count++) await write(database, `pool ${count}`);
    const kept = await idsAt(pair.standby);
    expect(kept.filter((id) => id.includes("pool"))).toHaveLength(20);
    for (const [index, id] of ["a", "b", "c"].entries()) {
      if (settled[index]?.status === "fulfilled") expect(kept).toContain(id);
    }
  });

  test("sends no write to an old primary that follows the new one, and follows a second failover", async () => {
    const database = await open();
    await pair.primary.stop();
    await pair.standby.promote();
    await writtenBackWithin(database, "after");
    await pair.primary.follow(pair.standby);
    const late = await open();
    await Promise.all([write(database, "old pool"), write(late, "new pool")]);
    expect(await idsAt(pair.standby)).toEqual(["after", "new pool", "old pool"]);
    // A second failover, back to the first server.
    await pair.standby.kill();
    await refusedSoon(database, "meanwhile");
    await pair.primary.promote();
    await writtenBackWithin(database, "home");
    await writtenBackWithin(late, "home too");
    expect(await idsAt(pair.primary)).toEqual(["after", "home", "home too", "new pool", "old pool"]);
  });

  test("commits a transaction once or not at all when the primary dies during the transaction", async () => {
    const database = await open();
    const reached = Promise.withResolvers<void>();
    const promoted = Promise.withResolvers<void>();
    const transactions = ["x", "y", "z"].map((id) =>
      database.transaction("write", async (tx) => {
        await tx.execute(sql`insert into written values (${`${id} first`})`);
        reached.resolve();
        await promoted.promise;
        await tx.execute(sql`insert into written values (${`${id} second`})`);
      }),
    );
    const settled = Promise.allSettled(transactions);
    await reached.promise;
    await pair.primary.kill();
    await pair.standby.promote();
    promoted.resolve();
    for (const [index, { status }] of (await settled).entries()) {
      const id = ["x", "y", "z"][index];
      const rows = (await idsAt(pair.standby)).filter((each) => each.startsWith(`${id} `));
      expect(rows).toEqual(status === "fulfilled" ? [`${id} first`, `${id} second`] : []);
    }
    await writtenBackWithin(database, "after");
  });

  test("lets no service start without a primary, and the message says why", async () => {
    await pair.primary.kill();
    const failure = await rejection(openDatabase(pair.url, { namespace: "test" }));
    expect(String(failure)).toMatch(/No server accepts writes\. .* 127.*,127.* \(DATABASE_URL\)/);
    await pair.standby.kill();
    const alone = await rejection(openDatabase(pair.url, { namespace: "test" }));
    expect(String(alone)).toMatch(/Nothing listens at/);
    await pair.standby.restart();
    await pair.standby.promote();
    await write(await open(), "again");
  });

  test("connects again after a standby refused a write, because its name can lead to another server", async () => {
    let target = pair.standby.url;
    const proxy = await startProxy(() => target);
    const database = await open(proxy.url);
    await refusedSoon(database, "refused");
    // New connections lead to the primary. Existing connections still lead to the standby and must be
    // replaced.
    target = pair.primary.url;
    await writtenBackWithin(database, "written");
    expect(await idsAt(pair.primary)).toEqual(["written"]);
    await proxy.close();
  });

  // OP-19
  test("loses no acknowledged audit event in a failover", async () => {
    const audit = await startAudit({ databaseUrl: pair.url });
    opened.push({ close: () => audit.stop() });
    const acknowledged: string[] = [];
    let ended = false;
    const writers = Array.from({ length: 8 }, async () => {
      while (!ended) {
        const id = requestId();
        const { status } = await audit.put(id, intent());
        if (status === 201) acknowledged.push(id);
        else expect(status).toBe(503);
      }
    });
    await waitFor(() => acknowledged.length > 100, { timeoutMs: 60_000 });
    await pair.primary.kill();
    await pair.standby.promote();
    const before = acknowledged.length;
    const promoted = performance.now();
    await waitFor(() => acknowledged.length > before, { timeoutMs: 30_000 });
    expect(performance.now() - promoted).toBeLessThan(BACK_MS);
    await waitFor(() => acknowledged.length > before + 50, { timeoutMs: 60_000 });
    ended = true;
    await Promise.all(writers);
    const kept = new Set(
      (await pair.standby.ask("select request_id from audit.request_ids")).map((row) => row.request_id),
    );
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });
});
