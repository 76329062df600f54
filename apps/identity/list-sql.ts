/**
 * Operators for queries that read one page of an owner's rows in the order of their ids. With the usual operators,
 * the planner may scan the primary key, which has the same order. At the end of a long list, such a scan reads the
 * whole table. Only indexes that begin with the owner support the operators of text_pattern_ops. In the collation
 * "C", these operators give the same order.
 */
import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/** Returns the condition for rows after the id `starting_after`, or undefined for the first page. */
export function behind(id: PgColumn, starting_after: string | null): SQL | undefined {
  return starting_after === null ? undefined : sql`${id} ~>~ ${starting_after}`;
}

/** Returns the ORDER BY term for ascending ids. */
export function byId(id: PgColumn): SQL {
  return sql`${id} using ~<~`;
}
