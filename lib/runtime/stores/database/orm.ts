import type { SQL } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import type postgres from "postgres";

/** Drizzle's query builder, the same for a pool, a transaction, PostgreSQL and PGlite. */
export type Orm = PgDatabase<PgQueryResultHKT, Record<string, never>>;

/**
 * Runs a statement that is written in SQL, and gives its rows, the same shape on both adapters; the caller names
 * the row type that the statement selects. `int8` and `count(*)` are numbers (bigints beyond 2^53), `numeric`
 * strings, `json` parsed, a `text[]` an array (select others as such or as JSON), `bytea` a Uint8Array; dates and
 * times are PostgreSQL's text in UTC, such as `2026-01-31 12:00:00.5+00`, which `new Date()` reads. Parameters
 * may be strings, numbers, bigints, booleans, Dates or null.
 */
export async function rows<Row = Record<string, unknown>>(orm: Orm, statement: SQL): Promise<Row[]> {
  return rowsOf<Row>(await orm.execute(statement));
}

/**
 * The result itself from postgres.js, a field of it from PGlite. Nobody can check a row against a TypeScript
 * type: that a statement selects the columns of `Row` is seen where both stand, one below the other.
 */
export function rowsOf<Row>(result: unknown): Row[] {
  // biome-ignore lint/plugin: see above; both drivers give an array in one of these two places
  return Array.isArray(result) ? Array.from<Row>(result) : (result as { rows: Row[] }).rows;
}

/** The drivers' builders differ in one type only: the result of a raw `execute`, which `rows` reads for everyone. */
export function asOrm<Result extends PgQueryResultHKT>(
  builder: PgDatabase<Result, Record<string, never>>,
): Orm {
  // biome-ignore lint/plugin: the one type that differs is never looked at
  return builder as Orm;
}

/** What drizzle uses of postgres.js's client, passed off as the whole. */
export function asSql(client: object & { unsafe: unknown }): postgres.Sql {
  // biome-ignore lint/plugin: drizzle's session calls `unsafe`, `begin` and `savepoint` only
  return client as postgres.Sql;
}
