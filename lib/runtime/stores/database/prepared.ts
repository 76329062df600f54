import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { PgDialect, type PreparedQueryConfig, type SelectedFieldsFlat } from "drizzle-orm/pg-core";
import { drizzle } from "drizzle-orm/pg-proxy";
import type { Database, RunOptions } from "./database.ts";
import { asOrm, type Orm, rows, rowsOf } from "./orm.ts";

/** The dialect that all connections share. It caches column names. */
export const dialect = new PgDialect();

const builder = asOrm(
  drizzle(() => {
    throw new Error("A prepared query was run while it was built.");
  }),
);

interface Select<Row> extends SQLWrapper {
  readonly _: { readonly selectedFields: SelectedFieldsFlat; readonly result: Row[] };
}

/**
 * Prepares a select whose text is built only once: building it for each call is the largest cost of a short query.
 * `sql.placeholder` stands for the values of each call.
 */
export function prepared<Row>(
  build: (orm: Orm) => Select<Row>,
): (orm: Orm, values: Record<string, unknown>) => Promise<Row[]> {
  const built = build(builder);
  const query = dialect.sqlToQuery(built.getSQL());
  const fields = Object.entries(built._.selectedFields).map(([name, field]) => ({
    path: [name],
    field,
  }));
  return (orm, values) =>
    orm._.session
      .prepareQuery<PreparedQueryConfig & { execute: Row[] }>(query, fields, undefined, true)
      .execute(values);
}

/** Prepares a SQL statement, like {@link prepared} for a select. */
export function preparedRows<Row>(
  statement: SQL,
): (orm: Orm, values: Record<string, unknown>) => Promise<Row[]> {
  const query = dialect.sqlToQuery(statement);
  return async (orm, values) =>
    rowsOf<Row>(await orm._.session.prepareQuery(query, undefined, undefined, false).execute(values));
}

/** Runs one statement outside of a transaction: `` query<Row>(database, "select_ids")`select id from …` ``. */
export const query =
  <Row = Record<string, unknown>>(database: Database, operation: string, options?: RunOptions) =>
  (strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> =>
    database.run(operation, (orm) => rows<Row>(orm, sql(strings, ...values)), options);
