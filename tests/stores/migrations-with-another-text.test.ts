import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import postgres from "postgres";
import { freshDatabase, rejection, services } from "../support/index.ts";
import { writeMigrationsUntil } from "../support/older-schema.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { migrate, writeMigrations } from "./migrations.ts";

setDefaultTimeout(60_000);

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

const SCHEMA = "things";
const FIRST = { "0000_first": `create table ${SCHEMA}.things (id int);` };
const EARLIER = `alter table ${SCHEMA}.things add column size int check (size > 0);`;
/** A migration with the same result as `EARLIER`, in two steps. */
const LATER = `-- How large a thing is.
-- stands for ${hashOf(EARLIER)}
alter table ${SCHEMA}.things add column size int, add constraint things_size_check check (size > 0) not valid;
--> statement-breakpoint
alter table ${SCHEMA}.things validate constraint things_size_check;`;

async function folderWith(second: string): Promise<string> {
  const folder = temporaryFolder("migrations");
  await writeMigrations(folder, { ...FIRST, "0001_second": second });
  return folder;
}

/** Returns the columns and constraints of a table, and the journal of the schema's migrations. */
async function madeIn(url: string, schema: string, table: string) {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const columns = await sql`select column_name, data_type, is_nullable, column_default
    from information_schema.columns where table_schema = ${schema} and table_name = ${table} order by 1`;
  const constraints =
    await sql`select conname, pg_get_constraintdef(oid) as text, convalidated, conkey::text as columns
    from pg_constraint where conrelid = ${`${schema}.${table}`}::regclass order by 1`;
  const journal = await sql`select written_at_ms, hash from ${sql(`${schema}.schema_migrations`)} order by 1`;
  await sql.end();
  return { columns: [...columns], constraints: [...constraints], journal: [...journal] };
}

describe.skipIf(!services().postgres.real)("a migration that stands for an earlier text", () => {
  // OP-92
  test("counts as applied where the earlier text was applied, and vice versa", async () => {
    const [earlier, later] = [await folderWith(EARLIER), await folderWith(LATER)];
    const first = temporaryFolder("migrations");
    await writeMigrations(first, FIRST);
    const made: unknown[] = [];
    for (const [applied, other] of [
      [earlier, later],
      [later, earlier],
    ] as const) {
      const url = await freshDatabase();
      await migrate(url, SCHEMA, first);
      expect(await migrate(url, SCHEMA, applied)).toBe(0);
      const before = await madeIn(url, SCHEMA, "things");
      expect(await migrate(url, SCHEMA, other)).toBe(0);
      expect(await madeIn(url, SCHEMA, "things")).toEqual(before);
      made.push(before);
    }
    expect(made[1]).toEqual(made[0]);
  });

  // OP-16, OP-92
  test("is refused where another text was applied", async () => {
    const url = await freshDatabase();
    await migrate(url, SCHEMA, await folderWith("create index by_id on things.things (id);"));
    const refused = await rejection(migrate(url, SCHEMA, await folderWith(LATER)));
    expect(String(refused)).toContain("was edited after it was applied");
  });
});

/** The first released text of each migration whose text was changed later, by name. */
const FIRST_TEXTS = {
  "routes/0001_limits_by_plan": `-- A policy has a window or a calendar period, may have numbers of its own for plans, and may charge success alone.
alter table routes.policies
  alter column window_seconds drop not null,
  add column period text check (period in ('day', 'month')),
  add column plans jsonb,
  add column charge text check (charge = any (array['success']));
`,
};

describe.skipIf(!services().postgres.real)("routes/0001_limits_by_plan", () => {
  // OP-91, OP-92
  test("has the same result as the text that it stands for", async () => {
    const text = FIRST_TEXTS["routes/0001_limits_by_plan"];
    const before = temporaryFolder("migrations");
    await writeMigrationsUntil(before, "routes", "0000_routes");
    const folder = temporaryFolder("migrations");
    await writeMigrationsUntil(folder, "routes", "0001_limits_by_plan");
    const file = await Bun.file(shippedFile("drizzle/routes/0001_limits_by_plan.sql")).text();
    expect(file).toContain(`\n-- stands for ${hashOf(text)}\n`);
    const made: unknown[] = [];
    for (const isFirstText of [true, false]) {
      const url = await freshDatabase();
      await migrate(url, "routes", before);
      const path = join(folder, "0001_limits_by_plan.sql");
      await Bun.write(path, isFirstText ? text : file);
      await migrate(url, "routes", folder);
      made.push(await madeIn(url, "routes", "policies"));
    }
    expect(made[1]).toEqual(made[0]);
  });
});
