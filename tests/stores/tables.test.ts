import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Database, openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { is, SQL, sql } from "drizzle-orm";
import { getTableConfig, PgDialect, PgTable } from "drizzle-orm/pg-core";
import { freshDatabase, services } from "../support/index.ts";
import { ROOT } from "../support/root.ts";

/** A table in a form in which drizzle's declaration and PostgreSQL's catalog can be compared. */
interface Table {
  name: string;
  columns: Record<string, Column>;
  primaryKey: string[];
}

interface Column {
  type: string;
  nullable: boolean;
  default: string | null;
  /** The allowed values, if the column has such a list. */
  values?: string[];
}

/** Returns the tables that the services declare with drizzle, by schema. */
async function declaredTables(): Promise<Map<string, PgTable[]>> {
  const bySchema = new Map<string, PgTable[]>();
  for await (const file of new Bun.Glob("apps/*/tables.ts").scan({ cwd: ROOT })) {
    const declared: Record<string, unknown> = await import(join(ROOT, file));
    for (const table of Object.values(declared)) {
      if (!is(table, PgTable)) continue;
      const { schema = "" } = getTableConfig(table);
      bySchema.set(schema, [...(bySchema.get(schema) ?? []), table]);
    }
  }
  return bySchema;
}

const declared = await declaredTables();

/** Converts drizzle's declaration of a table to a {@link Table}. */
function declaredTable(table: PgTable): Table {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const composite = primaryKeys.flatMap((key) => key.columns.map((column) => column.name));
  return {
    name,
    columns: Object.fromEntries(
      columns.map((column) => [
        column.name,
        {
          type: column.getSQLType().replace(" (", "("),
          nullable: !column.notNull && !composite.includes(column.name),
          default: defaultText(column.default),
          ...(column.enumValues !== undefined && { values: column.enumValues.toSorted() }),
        },
      ]),
    ),
    primaryKey:
      composite.length > 0
        ? composite
        : columns.filter(({ primary }) => primary).map((column) => column.name),
  };
}

function defaultText(value: unknown): string | null {
  if (value === undefined) return null;
  return is(value, SQL) ? new PgDialect().sqlToQuery(value).sql : String(value);
}

/** Returns the tables of a schema in PostgreSQL, except the journal of migrations. */
async function createdTables(database: Database, schema: string): Promise<Table[]> {
  const columns = await database.run("inspect", (orm) =>
    rows<{ table: string; column: string; in_key: boolean; checks: string[] } & Column>(
      orm,
      sql`
        select relname as "table", attname as "column", format_type(atttypid, atttypmod) as "type",
          not attnotnull as nullable, pg_get_expr(adbin, adrelid) as "default",
          attnum = any (coalesce(key.conkey, '{}')) as in_key,
          array(select pg_get_constraintdef(oid) from pg_constraint
            where conrelid = attrelid and contype = 'c' and conkey = array[attnum]) as checks
        from pg_attribute
          join pg_class on pg_class.oid = attrelid and relkind in ('r', 'p') and not relispartition
          left join pg_attrdef on adrelid = attrelid and adnum = attnum
          left join pg_constraint key on key.conrelid = attrelid and key.contype = 'p'
        where relnamespace = ${schema}::regnamespace and attnum > 0 and not attisdropped
          and relname <> 'schema_migrations'
        order by relname, array_position(key.conkey, attnum), attnum`,
    ),
  );
  const tables = new Map<string, Table>();
  for (const { table: name, column, in_key, checks, ...rest } of columns) {
    const table = tables.get(name) ?? { name, columns: {}, primaryKey: [] };
    tables.set(name, table);
    const values = checks.flatMap(listedTexts).toSorted();
    table.columns[column] = { ...rest, ...(values.length > 0 && { values }) };
    if (in_key) table.primaryKey.push(column);
  }
  return [...tables.values()];
}

/** Returns the values of a check `column in (…)`, from the form in which PostgreSQL stores it. */
function listedTexts(check: string): string[] {
  if (!check.includes("ANY (ARRAY[")) return [];
  return Array.from(check.matchAll(/'([^']*)'::text/g), ([, text = ""]) => text);
}

describe.skipIf(!services().postgres.real)("the tables that drizzle declares", () => {
  let database: Database;
  beforeAll(async () => {
    database = await openDatabase(await freshDatabase(), { namespace: "tables" });
  });
  afterAll(() => database.close());

  test.each([...declared])("of schema %s equal those that the migrations create", async (schema, tables) => {
    await database.migrate(schema, join(ROOT, "drizzle", schema));
    const byName = (a: Table, b: Table) => (a.name < b.name ? -1 : 1);
    const created = await createdTables(database, schema);
    expect(tables.map(declaredTable).toSorted(byName)).toEqual(created.toSorted(byName));
  });

  test("include those of identity and the registry", () => {
    expect([...declared.keys()]).toEqual(expect.arrayContaining(["identity", "routes"]));
  });
});
