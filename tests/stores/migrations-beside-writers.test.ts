import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase } from "@ostiary/lib/runtime/stores/database";
import postgres from "postgres";
import { freshDatabase, rejection, services, waitFor } from "../support/index.ts";
import { leash } from "../support/services.ts";
import { writeMigrations } from "./migrations.ts";

setDefaultTimeout(120_000);

const SCHEMA = "things";
const FIRST = { "0000_first": `create table ${SCHEMA}.things (id int primary key, name text);` };
/** A column, then an index on it: the table exists before. */
const SECOND = {
  "0001_second": `alter table ${SCHEMA}.things add column color text;
--> statement-breakpoint
-- create index nonsense on nothing: a comment
create index things_by_color on ${SCHEMA}.things (color) where color is not null;
--> statement-breakpoint
update ${SCHEMA}.things set name = 'new';`,
};

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A database whose schema has the first migration, and the folder with both. */
async function bed(second: Record<string, string> = SECOND) {
  const url = await freshDatabase();
  const directory = await mkdtemp(join(tmpdir(), "ostiary-migrations-"));
  leash().directory(directory);
  const [before, folder] = [join(directory, "before"), join(directory, "folder")];
  await writeMigrations(before, FIRST);
  await writeMigrations(folder, { ...FIRST, ...second });
  const database = await open(url);
  await database.migrate(SCHEMA, before);
  const sql = session(url);
  await sql.unsafe(`insert into ${SCHEMA}.things values (1, 'old')`);
  return { url, folder, before, database, sql };
}

async function open(url: string): Promise<Database> {
  const database = await openDatabase(url, { namespace: "test", pool_max: 3 });
  ends.push(() => database.close());
  return database;
}

function session(url: string): postgres.Sql {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  ends.push(() => sql.end());
  return sql;
}

/** Returns the indexes that migrations made, and whether each is valid. */
async function indexesOf(sql: postgres.Sql): Promise<unknown[][]> {
  const found =
    await sql`select relname as name, indisvalid as valid from pg_index join pg_class on oid = indexrelid
    where relname like 'things_by%' order by 1`;
  return found.map(({ name, valid }) => [name, valid]);
}

const BUILT = [["things_by_color", true]];

describe.skipIf(!services().postgres.real)("migrations of an existing schema", () => {
  // OP-68
  test("an index is built while writers go on, also while a writer has not committed", async () => {
    const { url, folder, database, sql } = await bed({
      "0001_second": `create index things_by_name on ${SCHEMA}.things (name);`,
    });
    const writer = session(url);
    await writer`begin`;
    await writer.unsafe(`insert into ${SCHEMA}.things (id) values (2)`);
    const migrated = database.migrate(SCHEMA, folder);
    const isBuilding = async () =>
      (
        await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query like 'create index concurrently%'`
      ).length > 0;
    await waitFor(isBuilding, { what: "An index that waits for the writer", timeout_ms: 60_000 });
    await sql.unsafe(`insert into ${SCHEMA}.things (id) values (3)`);
    await writer`commit`;
    await migrated;
    expect(await indexesOf(sql)).toEqual([["things_by_name", true]]);
  });

  // OP-68
  test("writers pass a step that waits for a lock", async () => {
    const { url, folder, database, sql } = await bed();
    const reader = session(url);
    await reader`begin`;
    await reader.unsafe(`select from ${SCHEMA}.things`);
    const migrated = database.migrate(SCHEMA, folder);
    const isWaiting = async () =>
      (await sql`select from pg_locks where not granted and mode = 'AccessExclusiveLock'`).length > 0;
    await waitFor(isWaiting, { what: "A step that waits for the reader", timeout_ms: 60_000 });
    // Would wait behind the step, and the step behind the reader.
    await sql.unsafe(`insert into ${SCHEMA}.things (id) values (2)`);
    await reader`commit`;
    await migrated;
    expect(await indexesOf(sql)).toEqual(BUILT);
  });

  // OP-68
  test("an index of a build that was broken off is built anew, and one that is there is kept", async () => {
    const { folder, database, sql } = await bed();
    await sql.unsafe(`alter table ${SCHEMA}.things add column color text`);
    await sql.unsafe(`create index things_by_color on ${SCHEMA}.things (color)`);
    await sql.unsafe(`alter table ${SCHEMA}.things drop column color cascade`);
    await sql.unsafe(`create index things_by_color on ${SCHEMA}.things (name)`);
    await sql`update pg_index set indisvalid = false where indexrelid = 'things.things_by_color'::regclass`;
    await database.migrate(SCHEMA, folder);
    expect(await indexesOf(sql)).toEqual(BUILT);
    const [found] = await sql`select pg_get_indexdef('things.things_by_color'::regclass) as text`;
    expect(found?.text).toContain("(color) WHERE (color IS NOT NULL)");
  });

  // OP-16, OP-68
  test("replicas that start together apply each step once", async () => {
    const { url, folder, sql } = await bed({
      ...SECOND,
      "0002_third": `create index things_by_name on ${SCHEMA}.things (name);
--> statement-breakpoint
insert into ${SCHEMA}.things values (7, 'once');`,
    });
    const replicas = await Promise.all([open(url), open(url), open(url), open(url)]);
    expect(await Promise.all(replicas.map((each) => each.migrate(SCHEMA, folder)))).toEqual([0, 0, 0, 0]);
    expect(await indexesOf(sql)).toEqual([...BUILT, ["things_by_name", true]]);
    const journal = await sql.unsafe(`select steps_done from ${SCHEMA}.schema_migrations`);
    expect(journal.map(({ steps_done }) => steps_done)).toEqual([null, null, null]);
  });

  // OP-76
  test("a step that fails leaves the steps before it, and the next start goes on there", async () => {
    const { url, folder, database, sql } = await bed();
    await sql.unsafe(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'not yet'; end $$;
      create trigger refuse before update on ${SCHEMA}.things for each row execute function refuse()`);
    expect(Bun.inspect(await rejection(database.migrate(SCHEMA, folder)))).toContain("not yet");
    const journal = () =>
      sql.unsafe(`select steps_done from ${SCHEMA}.schema_migrations order by written_at_ms`);
    expect((await journal()).map(({ steps_done }) => steps_done)).toEqual([null, 2]);
    await sql.unsafe(`drop trigger refuse on ${SCHEMA}.things`);
    expect(await (await open(url)).migrate(SCHEMA, folder)).toBe(0);
    expect((await journal()).map(({ steps_done }) => steps_done)).toEqual([null, null]);
  });

  // OP-75, OP-76
  test("an older version starts on a schema whose migration is half done", async () => {
    const { url, folder, before, database, sql } = await bed();
    await sql.unsafe(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'not yet'; end $$;
      create trigger refuse before update on ${SCHEMA}.things for each row execute function refuse()`);
    await rejection(database.migrate(SCHEMA, folder));
    expect(await (await open(url)).migrate(SCHEMA, before)).toBe(1);
  });

  // OP-68
  test("indexes of new and of partitioned tables are steps of their transaction", async () => {
    const { folder, database, sql } = await bed({
      "0001_second": `create table ${SCHEMA}.logs (at int) partition by range (at);
--> statement-breakpoint
create index things_by_at on ${SCHEMA}.logs (at);
--> statement-breakpoint
create table ${SCHEMA}.log partition of ${SCHEMA}.logs for values from (1) to (2);`,
      "0002_third": `create unique index things_by_at_once on ${SCHEMA}.logs (at);`,
    });
    await database.migrate(SCHEMA, folder);
    expect(await indexesOf(sql)).toEqual([
      ["things_by_at", true],
      ["things_by_at_once", true],
    ]);
  });
});
