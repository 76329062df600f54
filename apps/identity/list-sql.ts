import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/**
 * A list of one owner's rows, by id, must read only its page. With the usual operators, the planner may walk
 * the primary key, which has the same order, and skip the rows of other owners. At the end of a long list,
 * that reads the whole table.
 *
 * So these lists compare and order by the operators of text_pattern_ops, which only the indexes for these
 * lists offer. In the collation "C" the order is the same.
 */

/** Returns the condition for rows after the last one of the previous page, if there is one. */
export function behind(id: PgColumn, starting_after: string | null): SQL | undefined {
  return starting_after === null ? undefined : sql`${id} ~>~ ${starting_after}`;
}

/** Returns the ascending order by id. */
export function byId(id: PgColumn): SQL {
  return sql`${id} using ~<~`;
}
