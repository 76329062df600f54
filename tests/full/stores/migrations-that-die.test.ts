import { describe, expect, test } from "bun:test";
import { migrate, writeMigrations } from "../../stores/migrations.ts";
import { freshDatabase, rejection, services } from "../../support/index.ts";
import { runSql, withSql } from "../../support/stores/sql.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const SCHEMA = "things";
const FIRST = {
  "0000_first": `create table ${SCHEMA}.things (id int primary key, name text);
--> statement-breakpoint
create table ${SCHEMA}.logs (at int not null, name text) partition by range (at);
--> statement-breakpoint
create table ${SCHEMA}.log_1 partition of ${SCHEMA}.logs for values from (1) to (2);
--> statement-breakpoint
create table ${SCHEMA}.log_2 partition of ${SCHEMA}.logs for values from (2) to (3);`,
};
/** Migrations with each kind of step: statements that share a transaction, validations, and indexes of both kinds. */
const LATER = {
  "0001_second": `alter table ${SCHEMA}.things add column size int;
--> statement-breakpoint
create index things_by_size on ${SCHEMA}.things (size);
--> statement-breakpoint
alter table ${SCHEMA}.things add constraint positive check (size > 0) not valid;
--> statement-breakpoint
alter table ${SCHEMA}.things validate constraint positive;
--> statement-breakpoint
create index logs_by_name on ${SCHEMA}.logs (name, at);`,
  "0002_third": `create table ${SCHEMA}.parts (id int primary key);
--> statement-breakpoint
create unique index things_by_name on ${SCHEMA}.things (name);
--> statement-breakpoint
create function ${SCHEMA}.two() returns int language sql return 2;`,
};

/** The result of a migration. */
interface End {
  /** The number of statements that changed the schema. */
  readonly statements: number;
  /** A text of all columns, indexes, constraints and functions of the schema. */
  readonly state: string;
}

/**
 * Creates a database with the first migration. The tests use it as a template. In a copy, statements that change the
 * schema and have a number in the table `deaths` kill their session.
 */
async function newTemplate(): Promise<string> {
  const url = await freshDatabase();
  await migrate(url, SCHEMA, await folderWith(FIRST));
  await runSql(
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

/** Copies a database of {@link newTemplate}. In the copy, statements with these numbers kill their session. */
async function copyThatDies(template: string, numbers: readonly number[]): Promise<string> {
  const copy = await freshDatabase(new URL(template).pathname.slice(1));
  await runSql(copy, `insert into public.deaths values ${numbers.map((number) => `(${number})`).join()}`);
  return copy;
}

async function folderWith(migrations: Record<string, string>): Promise<string> {
  const folder = temporaryFolder("migrations");
  await writeMigrations(folder, migrations);
  return folder;
}

function endOf(url: string): Promise<End> {
  return withSql(url, async (sql) => {
    const [statements] = await sql`select last_value::integer as number from public.statements`;
    const [found] = await sql`
      select string_agg(line, E'\n' order by line) as state from (
        select 'column ' || table_name || '.' || column_name || ' ' || data_type as line
          from information_schema.columns where table_schema = ${SCHEMA}
        union all select 'index ' || regexp_replace(pg_get_indexdef(indexrelid), '_\\d{4,}', '') || ' ' || indisvalid
          from pg_index join pg_class on oid = indexrelid where relnamespace = ${SCHEMA}::regnamespace
        union all select 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) || ' ' || convalidated
          from pg_constraint where connamespace = ${SCHEMA}::regnamespace
        union all select 'function ' || proname from pg_proc where pronamespace = ${SCHEMA}::regnamespace
      ) lines`;
    return { statements: Number(statements?.number), state: String(found?.state) };
  });
}

describe.skipIf(!services().postgres.real)("a migration whose session dies", () => {
  // OP-76
  test("at any statement is completed by the next start", async () => {
    const template = await newTemplate();
    const folder = await folderWith({ ...FIRST, ...LATER });
    const undisturbed = await copyThatDies(template, [0]);
    await migrate(undisturbed, SCHEMA, folder);
    const whole = await endOf(undisturbed);
    expect(whole.statements).toBeGreaterThan(8);
    // A start retries once if its session dies, so only two consecutive deaths let the first start fail.
    for (let number = 1; number <= whole.statements; number += 1) {
      const url = await copyThatDies(template, [number, number + 1]);
      await rejection(migrate(url, SCHEMA, folder));
      await migrate(url, SCHEMA, folder);
      const { state } = await endOf(url);
      expect({ number, state }).toEqual({ number, state: whole.state });
    }
  });
});
