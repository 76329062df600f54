import { describe, expect, test } from "bun:test";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeMigrations } from "./migrations.ts";

/** The time of the first migration of a later major version. */
const NEXT_MAJOR_MS = 1_800_000_000_000;

async function folderWith(migrations: Record<string, string>, firstMs?: number): Promise<string> {
  const folder = temporaryFolder("migrations");
  await writeMigrations(folder, migrations, firstMs);
  return folder;
}

/** Defines the tests of migrations that every adapter of the database must pass. */
export function describeMigrating(database: () => Database): void {
  describe("migrating", () => {
    const select = (text: string) => database().run("select", (orm) => rows(orm, sql.raw(text)));

    // OP-16
    test("applies each migration once, in order", async () => {
      const first = {
        "0000_first":
          "create table ordered.events (id int);\n--> statement-breakpoint\ninsert into ordered.events values (1);",
      };
      const folder = await folderWith(first);
      await database().migrate("ordered", folder);
      await writeMigrations(folder, {
        ...first,
        "0001_second": "insert into ordered.events select 2 from ordered.events;",
      });
      await database().migrate("ordered", folder);
      await database().migrate("ordered", folder);
      expect(await select("select id from ordered.events order by id")).toEqual([{ id: 1 }, { id: 2 }]);
    });

    test("rolls back all migrations when one fails", async () => {
      const folder = await folderWith({
        "0000_good": "create table broken.one (id int);",
        "0001_bad": "create table broken.two (id int);\n--> statement-breakpoint\nselect nonsense;",
      });
      await expect(database().migrate("broken", folder)).rejects.toBeInstanceOf(Error);
      expect(await select("select tablename from pg_tables where schemaname = 'broken'")).toEqual([]);
    });

    // OP-16
    test("refuses a migration that was edited after it was applied", async () => {
      const folder = await folderWith({ "0000_first": "create table edited.one (id int);" });
      await database().migrate("edited", folder);
      await writeMigrations(folder, { "0000_first": "create table edited.one (id bigint);" });
      await expect(database().migrate("edited", folder)).rejects.toThrow("edited");
    });

    // OP-96
    test("refuses an older version if a newer migration says that it cannot serve the schema", async () => {
      const FIRST = { "0000_first": "create table renamed.one (id int);" };
      const older = await folderWith(FIRST);
      const newer = await folderWith({
        ...FIRST,
        "0001_second": "alter table renamed.one add column size int;",
        "0002_third":
          "-- Sizes are counted.\n-- refuses older versions: they read the table one.\nalter table renamed.one rename to two;",
      });
      await database().migrate("renamed", older);
      expect(await database().migrate("renamed", newer)).toBe(0);
      await expect(database().migrate("renamed", older)).rejects.toThrow(
        "A newer version has migrated schema renamed, and this version cannot serve it: they read the table one. Start",
      );
      expect(await database().migrate("renamed", newer)).toBe(0);
    });

    // OP-122
    test("refuses a schema that 0.x made, and writes nothing", async () => {
      const before = await folderWith({ "0000_first": "create table former.one (id int);" });
      await database().migrate("former", before);
      await select("alter table former.schema_migrations drop column steps_done, drop column refuses_older");
      const folder = await folderWith({ "0000_all": "create table former.two (id int);" }, NEXT_MAJOR_MS);
      await expect(database().migrate("former", folder)).rejects.toThrow(
        "Schema former was made by Ostiary 0.x, and this version cannot read it: use a new database",
      );
      const found = await select(
        "select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'former' order by 1",
      );
      expect(found.map(({ name }) => name)).toEqual([
        "one.id",
        "schema_migrations.applied_at",
        "schema_migrations.hash",
        "schema_migrations.written_at_ms",
      ]);
    });
  });
}
