import type { SQL } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import type postgres from "postgres";

/** Drizzle's query builder, with one type for connections and transactions of both PostgreSQL and PGlite. */
export type Orm = PgDatabase<PgQueryResultHKT, Record<string, never>>;

/**
 * Runs a SQL statement and returns its rows, in the same form from both adapters. `Row` must match the
 * selected columns. `int8` and `count(*)` are numbers (bigints beyond 2^53), `numeric` is a string, `json` is
 * a parsed value, and `bytea` is a Uint8Array. A `text[]` is an array; other arrays must be selected as
 * `text[]` or as JSON. Dates and times are PostgreSQL's text in UTC, such as `2026-01-31 12:00:00.5+00`,
 * which `new Date()` can parse. Parameters are strings, numbers, bigints, booleans, Dates or null.
 */
export async function rows<Row = Record<string, unknown>>(orm: Orm, statement: SQL): Promise<Row[]> {
  return rowsOf<Row>(await orm.execute(statement));
}

/** Returns the rows of a driver's result. Nothing checks them, so callers write `Row` next to the statement. */
export function rowsOf<Row>(result: unknown): Row[] {
  // biome-ignore lint/plugin: both drivers return an array in one of these two places
  return Array.isArray(result) ? Array.from<Row>(result) : (result as { rows: Row[] }).rows;
}

/** Casts a driver's query builder. Only the result type of a raw `execute` differs. */
export function asOrm<Result extends PgQueryResultHKT>(
  builder: PgDatabase<Result, Record<string, never>>,
): Orm {
  // biome-ignore lint/plugin: only `rows` reads the one type that differs
  return builder as Orm;
}

/** Casts an object to the full client of postgres.js. The object has the methods that drizzle calls. */
export function asSql(client: object & { unsafe: unknown }): postgres.Sql {
  // biome-ignore lint/plugin: outside of a transaction of its own, drizzle's session calls `unsafe` only
  return client as postgres.Sql;
}
