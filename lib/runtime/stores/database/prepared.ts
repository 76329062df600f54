import type { SQL, SQLWrapper } from "drizzle-orm";
import { PgDialect, type PreparedQueryConfig, type SelectedFieldsFlat } from "drizzle-orm/pg-core";
import { drizzle } from "drizzle-orm/pg-proxy";
import { asOrm, type Orm, rowsOf } from "./orm.ts";

/** One for all connections, since it remembers the names of the columns that it has seen. */
export const dialect = new PgDialect();

const builder = asOrm(
  drizzle(() => {
    throw new Error("A prepared query was run where it is built.");
  }),
);

/** A select of drizzle's, of fields that are not nested. */
interface Select<Row> extends SQLWrapper {
  readonly _: { readonly selectedFields: SelectedFieldsFlat; readonly result: Row[] };
}

/**
 * A select that is built once, with `sql.placeholder` for what each call brings. Drizzle builds the text of a
 * query anew for every call otherwise, which costs more than all else that this process does for a short one.
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

/** As {@link prepared}, for a statement that is written in SQL: the rows are as `rows` gives them. */
export function preparedRows<Row>(
  statement: SQL,
): (orm: Orm, values: Record<string, unknown>) => Promise<Row[]> {
  const query = dialect.sqlToQuery(statement);
  return async (orm, values) =>
    rowsOf<Row>(await orm._.session.prepareQuery(query, undefined, undefined, false).execute(values));
}
