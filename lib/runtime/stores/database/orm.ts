import type { SQL } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import type postgres from "postgres";

/** Drizzle's query builder, with one type for pools, transactions, PostgreSQL and PGlite. */
export type Orm = PgDatabase<PgQueryResultHKT, Record<string, never>>;

/**
 * Runs a SQL statement and returns its rows, in the same form from both adapters. The caller names the row
 * type that the statement selects. `int8` and `count(*)` are numbers (bigints beyond 2^53), `numeric`
 * strings, `json` parsed values, `bytea` a Uint8Array. A `text[]` is an array; select other arrays as
 * `text[]` or as JSON. Dates and times are PostgreSQL's text in UTC, such as `2026-01-31 12:00:00.5+00`,
 * which `new Date()` reads. Parameters are strings, numbers, bigints, booleans, Dates or null.
 */
export async function rows<Row = Record<string, unknown>>(orm: Orm, statement: SQL): Promise<Row[]> {
  return rowsOf<Row>(await orm.execute(statement));
}

/**
 * Returns the rows of a result: the result itself from postgres.js, a field of it from PGlite. No check
 * compares rows with the TypeScript type. Callers write `Row` next to the statement, so that a mismatch is
 * visible.
 */
export function rowsOf<Row>(result: unknown): Row[] {
  // biome-ignore lint/plugin: both drivers return an array in one of these two places
  return Array.isArray(result) ? Array.from<Row>(result) : (result as { rows: Row[] }).rows;
}

/** Casts a driver's builder. The drivers differ only in the type of a raw `execute`, which `rows` reads. */
export function asOrm<Result extends PgQueryResultHKT>(
  builder: PgDatabase<Result, Record<string, never>>,
): Orm {
  // biome-ignore lint/plugin: only `rows` reads the one type that differs
  return builder as Orm;
}

/** Casts an object with the methods that drizzle uses to the full client of postgres.js. */
export function asSql(client: object & { unsafe: unknown }): postgres.Sql {
  // biome-ignore lint/plugin: drizzle's session calls `unsafe`, `begin` and `savepoint` only
  return client as postgres.Sql;
}
