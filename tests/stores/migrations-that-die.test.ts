import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import postgres from "postgres";
import { freshDatabase, rejection, services } from "../support/index.ts";
import { writeMigrationsUntil } from "../support/older-schema.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { migrate } from "./migrations.ts";

setDefaultTimeout(600_000);

/** The newest migration of each schema in the last release. */
const RELEASED = {
  routes: "0000_routes",
  identity: "0001_keys_that_end",
  audit: "0002_outcome_salt",
} as const;
type Schema = keyof typeof RELEASED;

/** The distance between two tested statements. Audit has many statements, so every fourth is enough. */
const STRIDES: Readonly<Record<Schema, number>> = { routes: 1, identity: 1, audit: 4 };

/** The result of a migration. */
interface End {
  /** The number of statements that changed the schema. */
  readonly statements: number;
  /** A text of all columns, indexes, constraints, triggers and functions of the schema. */
  readonly state: string;
}

/**
 * Creates a database with the migrations of the last release. The tests use it as a template. In a copy,
 * statements that change the schema and have a number in the table `deaths` kill their session.
 */
async function newRelease(schema: Schema): Promise<string> {
  const url = await freshDatabase();
  const folder = temporaryFolder("migrations");
  await writeMigrationsUntil(folder, schema, RELEASED[schema]);
  await migrate(url, schema, folder);
  await run(
    url,
    `create sequence public.statements;
     create table public.deaths (number bigint);
     create function public.die() returns event_trigger language plpgsql as $$ begin
       if nextval('public.statements') in (select number from public.deaths) then
         perform pg_terminate_backend(pg_backend_pid());
       end if;
     end $$;
     create event trigger die on ddl_command_start execute function public.die()`,
  );
  return url;
}

/** Copies a database of {@link newRelease}. In the copy, statements with these numbers kill their session. */
async function copyThatDies(release: string, numbers: readonly number[]): Promise<string> {
  const copy = await freshDatabase(new URL(release).pathname.slice(1));
  await run(copy, `insert into public.deaths values ${numbers.map((number) => `(${number})`).join()}`);
  return copy;
}

async function run(url: string, statements: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(statements).finally(() => sql.end());
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

describe.skipIf(!services().postgres.real)("a migration whose session dies", () => {
  // OP-76
  test.each(["routes", "identity", "audit"] as const)(
    "at any statement of schema %s is completed by the next start",
    async (schema) => {
      const release = await newRelease(schema);
      const folder = shippedFile(`drizzle/${schema}`);
      const undisturbed = await copyThatDies(release, [0]);
      await migrate(undisturbed, schema, folder);
      const whole = await endOf(undisturbed, schema);
      expect(whole.statements).toBeGreaterThan(4);
      // A start retries once if its session dies, so only two consecutive deaths let the first start fail.
      for (let number = 1; number <= whole.statements; number += STRIDES[schema]) {
        const url = await copyThatDies(release, [number, number + 1]);
        await rejection(migrate(url, schema, folder));
        await migrate(url, schema, folder);
        const { state } = await endOf(url, schema);
        expect({ number, state }).toEqual({ number, state: whole.state });
      }
    },
  );
});
