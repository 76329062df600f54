/** Tests that a session behaves the same, whatever the settings of the database, the role or the URL are. */
import { describe, expect, test } from "bun:test";
import { openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { describeDatabase } from "../../stores/database-suite.ts";
import { freshDatabase, makeHostile, services } from "../../support/index.ts";
import { connect } from "../../support/stores/sql.ts";

const { real } = services().postgres;

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
  test.if(real)("and a COMMIT is on disk before its response, while a stronger setting is kept", async () => {
    const url = await freshDatabase();
    const name = new URL(url).pathname.slice(1);
    const sql_ = connect(url);
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
});
