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
  // biome-ignore lint/plugin: the one type that differs is never looked at
  return builder as Orm;
}

/** Rows of a raw result: the result itself from postgres.js, a field of it from PGlite. */
export function rowsOf<Row>(result: unknown): Row[] {
  // biome-ignore lint/plugin: the caller vouches for the rows, both drivers for the rest
  const rows = Array.isArray(result) ? result : (result as { rows: unknown[] }).rows;
  // biome-ignore lint/plugin: as above
  return Array.from(rows) as Row[];
}

/** What drizzle uses of postgres.js's client, passed off as the whole. */
export function asSql(client: object & { unsafe: unknown }): postgres.Sql {
  // biome-ignore lint/plugin: drizzle's session calls `options`, `unsafe`, `begin` and `savepoint` only
  return client as postgres.Sql;
}
