import { describe, expect, test } from "bun:test";
import { type Database, openDatabase } from "@ostiary/lib/runtime/stores/database";
import type postgres from "postgres";
import { writeMigrations } from "../../stores/migrations.ts";
import { atTestEnd } from "../../support/at-test-end.ts";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import { connect } from "../../support/stores/sql.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const SCHEMA = "things";
const FIRST = { "0000_first": `create table ${SCHEMA}.things (id int primary key, name text);` };
/** A migration that adds a column to an existing table and builds an index on the column. */
const SECOND = {
  "0001_second": `alter table ${SCHEMA}.things add column color text;
--> statement-breakpoint
-- create index nonsense on nothing: a comment
create index things_by_color on ${SCHEMA}.things (color) where color is not null;
--> statement-breakpoint
update ${SCHEMA}.things set name = 'new';`,
};

/** Creates a database with the first migration, and a folder with the first and a second migration. */
async function bed(second: Record<string, string> = SECOND) {
  const url = await freshDatabase();
  const [before, folder] = [temporaryFolder("migrations"), temporaryFolder("migrations")];
  await writeMigrations(before, FIRST);
  await writeMigrations(folder, { ...FIRST, ...second });
  const database = await open(url);
  await database.migrate(SCHEMA, before);
  const sql = session(url);
  await sql.unsafe(`insert into ${SCHEMA}.things values (1, 'old')`);
  return { url, folder, before, database, sql };
}

async function open(url: string): Promise<Database> {
  const database = await openDatabase(url, { namespace: "test", poolMax: 3 });
  atTestEnd(() => database.close());
  return database;
}

function session(url: string): postgres.Sql {
  const sql = connect(url);
  atTestEnd(() => sql.end());
  return sql;
}

/** Waits until the build of an index waits for a writer. */
async function waitingIndex(sql: postgres.Sql): Promise<void> {
  const isBuilding = async () =>
    (
      await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like 'create index concurrently%'`
    ).length > 0;
  await waitFor(isBuilding, { what: "the index build to wait for the writer", timeoutMs: 60_000 });
}

/** Returns the name of each index that the migrations created, and whether it is valid. */
async function indexesOf(sql: postgres.Sql): Promise<unknown[][]> {
  const found =
    await sql`select relname as name, indisvalid as valid from pg_index join pg_class on oid = indexrelid
    where relname like 'things_by%' order by 1`;
  return found.map(({ name, valid }) => [name, valid]);
}

/** Returns the number of finished steps of each migration; null if the migration is complete. */
async function stepsDone(sql: postgres.Sql): Promise<unknown[]> {
  const journal = await sql.unsafe(
    `select steps_done from ${SCHEMA}.schema_migrations order by written_at_ms`,
  );
  return journal.map(({ steps_done }) => steps_done);
}

/** Expects that four replicas that start together all apply the migrations in a folder. */
async function migrateInReplicas(url: string, folder: string): Promise<void> {
  const replicas = await Promise.all(Array.from({ length: 4 }, () => open(url)));
  expect(await Promise.all(replicas.map((each) => each.migrate(SCHEMA, folder)))).toEqual([0, 0, 0, 0]);
}

const BUILT = [["things_by_color", true]];

describe.skipIf(!services().postgres.real)("migrations of an existing schema", () => {
  // OP-68
  test("build an index without blocking writers, even while an older write is not committed", async () => {
    const { url, folder, database, sql } = await bed({
      "0001_second": `create index things_by_name on ${SCHEMA}.things (name);`,
    });
    const writer = session(url);
    await writer`begin`;
    await writer.unsafe(`insert into ${SCHEMA}.things (id) values (2)`);
    const migrated = database.migrate(SCHEMA, folder);
    await waitingIndex(sql);
    await sql.unsafe(`insert into ${SCHEMA}.things (id) values (3)`);
    await writer`commit`;
    await migrated;
    expect(await indexesOf(sql)).toEqual([["things_by_name", true]]);
  });

  // OP-68
  test("do not block writers while a step waits for a lock", async () => {
    const { url, folder, database, sql } = await bed();
    const reader = session(url);
    await reader`begin`;
    await reader.unsafe(`select from ${SCHEMA}.things`);
    const migrated = database.migrate(SCHEMA, folder);
    const isWaiting = async () =>
      (await sql`select from pg_locks where not granted and mode = 'AccessExclusiveLock'`).length > 0;
    await waitFor(isWaiting, { what: "a step of the migration to wait for the reader", timeoutMs: 60_000 });
    // If the step kept waiting for its lock, this write would wait for the step, and the step for the reader.
    await sql.unsafe(`insert into ${SCHEMA}.things (id) values (2)`);
    await reader`commit`;
    await migrated;
    expect(await indexesOf(sql)).toEqual(BUILT);
  });

  // OP-16, OP-68
  test("apply each step once when several replicas start together", async () => {
    const { url, folder, sql } = await bed({
      ...SECOND,
      "0002_third": `create index things_by_name on ${SCHEMA}.things (name);
--> statement-breakpoint
insert into ${SCHEMA}.things values (7, 'once');`,
    });
    await migrateInReplicas(url, folder);
    expect(await indexesOf(sql)).toEqual([...BUILT, ["things_by_name", true]]);
    expect(await stepsDone(sql)).toEqual([null, null, null]);
  });

  // OP-91
  test("do not block writers while a constraint is validated", async () => {
    const { folder, database, sql } = await bed({
      "0001_second": `alter table ${SCHEMA}.things add constraint slow check (${SCHEMA}.slow(id)) not valid;
--> statement-breakpoint
-- reads all rows
alter table ${SCHEMA}.things validate constraint slow;`,
    });
    await sql.unsafe(`create table ${SCHEMA}.gate ();
      insert into ${SCHEMA}.gate default values;
      create function ${SCHEMA}.slow(id int) returns boolean language plpgsql volatile as $$ begin
        while exists (select from ${SCHEMA}.gate) loop perform pg_sleep(0.01); end loop;
        return true;
      end $$`);
    const migrated = database.migrate(SCHEMA, folder);
    const isValidating = async () =>
      (await sql`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`)
        .length > 0;
    await waitFor(isValidating, { what: "a validation that reads the rows", timeoutMs: 60_000 });
    await sql.unsafe(`delete from ${SCHEMA}.things where id = 1`);
    await sql.unsafe(`delete from ${SCHEMA}.gate`);
    await migrated;
    const [found] = await sql`select convalidated as valid from pg_constraint where conname = 'slow'`;
    expect(found?.valid).toBe(true);
  });
});

/** A partitioned table with rows in each partition. */
const LOGS = `create table ${SCHEMA}.logs (at int, name text) partition by range (at);
  create table ${SCHEMA}.log_1 partition of ${SCHEMA}.logs for values from (100) to (200);
  create table ${SCHEMA}.log_2 partition of ${SCHEMA}.logs for values from (200) to (300);
  insert into ${SCHEMA}.logs select 100 + n, 'x' from generate_series(0, 199) n`;

/** A migration that creates an index and then adds a column. The index is built after the column is added. */
const INDEXED = {
  "0001_second": `create index things_by_at on ${SCHEMA}.logs (at) where name is not null;
--> statement-breakpoint
alter table ${SCHEMA}.logs add column color text;`,
};

describe.skipIf(!services().postgres.real)("an index of a partitioned table", () => {
  async function partitioned(second = INDEXED) {
    const made = await bed(second);
    await made.sql.unsafe(LOGS);
    return made;
  }

  /** Returns the name of each partition that has a part of the index, and whether the part is valid. */
  async function parts(sql: postgres.Sql): Promise<unknown[]> {
    const found = await sql`select part.indrelid::regclass::text as table, part.indisvalid as valid
      from pg_inherits join pg_index part on part.indexrelid = inhrelid
      where inhparent = to_regclass('things.things_by_at') order by 1`;
    return found.map(({ table, valid }) => [table, valid]);
  }

  const WHOLE = [
    [`${SCHEMA}.log_1`, true],
    [`${SCHEMA}.log_2`, true],
  ];

  async function expectWhole(sql: postgres.Sql): Promise<void> {
    const [index] = await sql`select indisvalid as valid, pg_get_indexdef(indexrelid) as text
      from pg_index where indexrelid = 'things.things_by_at'::regclass`;
    expect(index?.valid).toBe(true);
    expect(index?.text).toContain("(at) WHERE (name IS NOT NULL)");
    expect(await parts(sql)).toEqual(WHOLE);
  }

  // OP-95
  test("is built without blocking writers, even while an older write is not committed", async () => {
    const { url, folder, database, sql } = await partitioned({
      "0001_second": `create index things_by_at on ${SCHEMA}.logs (at) where name is not null;`,
    });
    const writer = session(url);
    await writer`begin`;
    await writer.unsafe(`insert into ${SCHEMA}.log_2 values (250)`);
    const migrated = database.migrate(SCHEMA, folder);
    await waitingIndex(sql);
    await sql.unsafe(`insert into ${SCHEMA}.logs (at) values (150), (250)`);
    await writer`commit`;
    await migrated;
    await expectWhole(sql);
  });
});
