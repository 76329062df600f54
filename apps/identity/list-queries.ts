import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/**
 * A list of one owner's rows, by id, must read its page and nothing else. With the usual operators the planner
 * may walk the primary key, which is in the right order too, and skip everyone else's rows on its way: through
 * the whole table, at the end of a long list. So these lists compare and order by the operators of
 * text_pattern_ops, which only the indexes made for them offer. In the collation "C" the order is the same.
 */

/** Rows behind the last one of the page before; all of them when there is none. */
export function behind(id: PgColumn, starting_after: string | null): SQL | undefined {
  return starting_after === null ? undefined : sql`${id} ~>~ ${starting_after}`;
}

/** By id, ascending. */
export function byId(id: PgColumn): SQL {
  return sql`${id} using ~<~`;
}
