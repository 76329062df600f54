import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import postgres from "postgres";
import { freshDatabase, services } from "../support/index.ts";
import { writeMigrationsUntil } from "../support/older-schema.ts";
import { leash } from "../support/services.ts";

setDefaultTimeout(600_000);

/** The newest migration of the last release. */
const RELEASED = {
  routes: "0000_routes",
  identity: "0001_keys_that_end",
  audit: "0002_outcome_salt",
} as const;
type Schema = keyof typeof RELEASED;

/** Audit has so many statements that each fourth is enough. */
const STRIDES: Readonly<Record<Schema, number>> = { routes: 1, identity: 1, audit: 4 };

/** The number of the last statement that changes the schema, and what the schema is then. */
interface End {
  readonly statements: number;
  readonly state: string;
}

async function migrate(url: string, schema: string, folder: string): Promise<void> {
  const database = await openDatabase(url, { namespace: "test", pool_max: 2 });
  await database.migrate(schema, folder).finally(() => database.close());
}

/** Makes a database as the last release has it, to copy. */
async function newRelease(schema: Schema): Promise<string> {
  const url = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), "ostiary-migrations-"));
  leash().directory(folder);
  await writeMigrationsUntil(folder, schema, RELEASED[schema]);
  await migrate(url, schema, folder);
  return url;
}

/** Copies a database. In the copy, the statements with these numbers that change the schema end their session. */
async function copyThatDies(url: string, numbers: readonly number[]): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  const copy = `${name}_${numbers[0]}`;
  const admin = postgres(new URL("/postgres", url).href, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${copy} template ${name}`).finally(() => admin.end());
  const target = new URL(`/${copy}`, url).href;
  const sql = postgres(target, { max: 1, onnotice: () => {} });
  await sql
    .unsafe(
      `create sequence public.statements;
       create function public.die() returns event_trigger language plpgsql as $$ begin
         if nextval('public.statements') in (${numbers.join()}) then
           perform pg_terminate_backend(pg_backend_pid());
         end if;
       end $$;
       create event trigger die on ddl_command_start execute function public.die()`,
    )
    .finally(() => sql.end());
  return target;
}

async function endOf(url: string, schema: Schema): Promise<End> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const [statements] = await sql`select last_value::integer as number from public.statements`;
    const [found] = await sql`
      select string_agg(line, E'\n' order by line) as state from (
        select 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
          || coalesce(column_default, '') as line from information_schema.columns where table_schema = ${schema}
        union all select 'index ' || pg_get_indexdef(indexrelid) || ' ' || indisvalid
          from pg_index join pg_class on oid = indexrelid where relnamespace = ${schema}::regnamespace
        union all select 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) || ' ' || convalidated
          from pg_constraint where connamespace = ${schema}::regnamespace
        union all select 'trigger ' || pg_get_triggerdef(t.oid) || ' ' || tgenabled::text from pg_trigger t
          join pg_class c on c.oid = tgrelid where relnamespace = ${schema}::regnamespace and not tgisinternal
        union all select 'function ' || proname || ' ' || md5(prosrc) from pg_proc
          where pronamespace = ${schema}::regnamespace
      ) lines`;
    return { statements: Number(statements?.number), state: String(found?.state) };
  } finally {
    await sql.end();
  }
}

describe.skipIf(!services().postgres.real)("a migration that dies", () => {
  // OP-76
  test.each(["routes", "identity", "audit"] as const)(
    "of schema %s is taken up by the next start, wherever it died",
    async (schema) => {
      const release = await newRelease(schema);
      const folder = shippedFile(`drizzle/${schema}`);
      const undisturbed = await copyThatDies(release, [0]);
      await migrate(undisturbed, schema, folder);
      const whole = await endOf(undisturbed, schema);
      expect(whole.statements).toBeGreaterThan(4);
      // Lost work is retried once, so two statements in a row end the first start.
      for (let number = 1; number <= whole.statements; number += STRIDES[schema]) {
        const url = await copyThatDies(release, [number, number + 1]);
        const first = await migrate(url, schema, folder).then(
          () => "migrated",
          () => "died",
        );
        if (first === "died") await migrate(url, schema, folder);
        const { state } = await endOf(url, schema);
        expect({ number, state }).toEqual({ number, state: whole.state });
      }
    },
  );
});
