/** Tests that a session behaves the same, whatever the settings of the database, the role or the URL are. */
import { describe, expect, test } from "bun:test";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import postgres from "postgres";
import { describeDatabase } from "../../stores/database-suite.ts";
import { atTestEnd } from "../../support/at-test-end.ts";
import { listenLocally } from "../../support/http/listen-locally.ts";
import { freshDatabase, makeHostile, services } from "../../support/index.ts";
import { ROOT } from "../../support/root.ts";

const { real } = services().postgres;

/** The ErrorResponse of a server for a session with an unknown setting. */
const UNKNOWN_SETTING = (() => {
  const fields = 'SFATAL\0VFATAL\0C42704\0Munrecognized configuration parameter "idle_session_timeout"\0\0';
  const message = Buffer.from(`E....${fields}`);
  message.writeInt32BE(message.length - 1, 1);
  return message;
})();

const hostileDatabase = async () => makeHostile(await freshDatabase());

if (real) describeDatabase("PostgreSQL with changed settings", hostileDatabase);

const shape = sql`select '2026-02-01T12:00:00.5Z'::timestamptz as moment, '2026-02-01'::date as day,
  '1 day 2 hours'::interval as pause, '\\x00ff'::bytea::text as bytes, 0.1::float8 + 0.2::float8 as sum,
  length('\\\\') as backslashes, 'naïve 文'::text as text, current_schemas(false)::text as schemas,
  current_setting('transaction_isolation') as isolation`;

const expected = {
  moment: "2026-02-01 12:00:00.5+00",
  day: "2026-02-01",
  pause: "1 day 02:00:00",
  bytes: "\\x00ff",
  sum: 0.30000000000000004,
  backslashes: 2,
  text: "naïve 文",
  schemas: "{public}",
  isolation: "read committed",
};

/** Starts a proxy that rejects sessions with `idle_session_timeout`, as PostgreSQL 13 does. */
async function startOlderPostgres(target: string) {
  const { hostname, port } = new URL(target);
  const server = createServer((client) => {
    client.once("data", (start) => {
      if (start.includes("idle_session_timeout")) {
        client.end(UNKNOWN_SETTING);
        return;
      }
      const upstream = createConnection({ host: hostname, port: Number(port) });
      upstream.write(start);
      client.pipe(upstream).pipe(client);
    });
  });
  const url = new URL(target);
  url.port = String(await listenLocally(server));
  return { url: url.href, close: () => server.close() };
}

// OP-17
describe("values, names and times are read as with default settings", () => {
  test.if(real)("on a PostgreSQL with changed settings", async () => {
    const database = await openDatabase(await hostileDatabase(), { namespace: "suite" });
    expect(await database.run("select", (orm) => rows(orm, shape))).toEqual([expected]);
    // The timeouts of the changed settings must not apply: these writers wait for a lock, and pause in
    // between.
    await database.run("create", (orm) => orm.execute(sql`create table counters as select 0 as value`));
    await Promise.all(
      Array.from({ length: 20 }, () =>
        database.transaction("increment", async (tx) => {
          await tx.execute(sql`select pg_sleep(0.01)`);
          await tx.execute(sql`update counters set value = value + 1`);
        }),
      ),
    );
    const [row] = await database.run("select", (orm) => rows(orm, sql`select value from counters`));
    expect(row).toEqual({ value: 20 });
    const settings = sql`select name from pg_settings where name like '%_timeout' and context = 'user'
      and setting = '0' and name in ('lock_timeout', 'idle_session_timeout')`;
    expect(await database.run("select", (orm) => rows(orm, settings))).toHaveLength(2);
    await database.close();
  });

  // OP-132
  test.if(real)("and a COMMIT is on disk before its answer, while a stronger setting is kept", async () => {
    const url = await freshDatabase();
    const name = new URL(url).pathname.slice(1);
    const sql_ = postgres(url, { max: 1, onnotice: () => {} });
    for (const [given, expected] of [
      ["off", "on"],
      ["local", "on"],
      ["remote_write", "on"],
      ["on", "on"],
      ["remote_apply", "remote_apply"],
    ]) {
      await sql_.unsafe(`alter database ${name} set synchronous_commit to ${given}`);
      for (const each of [url, `${url}?synchronous_commit=${given}`]) {
        const database = await openDatabase(each, { namespace: "suite", poolMax: 2 });
        const level = sql`select current_setting('synchronous_commit') as level`;
        expect(await database.transaction("select", (tx) => rows(tx, level))).toEqual([{ level: expected }]);
        await database.close();
      }
    }
    await sql_.end();
  });

  test.if(real)("and partitioned tables are created in spite of a default tablespace", async () => {
    const database = await openDatabase(await hostileDatabase(), { namespace: "audit" });
    expect(await database.migrate("audit", join(ROOT, "drizzle/audit"))).toBe(0);
    await database.close();
  });

  test.if(real)("on a PostgreSQL that does not know the idle timeout of sessions", async () => {
    const url = await freshDatabase();
    const old = await startOlderPostgres(url);
    atTestEnd(() => old.close());
    const database = await openDatabase(old.url, { namespace: "suite" });
    expect(await database.run("select", (orm) => rows(orm, shape))).toEqual([expected]);
    await database.close();
  });
});
