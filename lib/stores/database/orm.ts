import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import type postgres from "postgres";
import type { Orm } from "./database.ts";

/**
 * The drivers' builders differ in one type only: the result of a raw `execute`, which `Database.rows` reads
 * for everyone.
 */
export function asOrm<Result extends PgQueryResultHKT>(
  builder: PgDatabase<Result, Record<string, never>>,
): Orm {
  return builder as unknown as Orm;
}

/** Rows of a raw result: the result itself from postgres.js, a field of it from PGlite. The caller vouches for `Row`. */
export function rowsOf<Row>(result: unknown): Row[] {
  if (Array.isArray(result)) return Array.from(result as Row[]);
  return (result as { rows: Row[] }).rows;
}

/** The part of postgres.js's client that drizzle uses, passed off as the whole. */
export function asSql(client: Pick<postgres.Sql, "unsafe"> | { unsafe: unknown }): postgres.Sql {
  return client as unknown as postgres.Sql;
}
