import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { eq, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable, PgUpdateSetSource } from "drizzle-orm/pg-core";

/** The maximum number of rows that one statement changes, so that it ends before the statement timeout. */
const BATCH_ROWS = 20_000;

/** Calls `work` with the ids of `rows` in consecutive batches. */
export async function inBatches(
  rows: readonly { id: string }[],
  work: (ids: string[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    await work(rows.slice(start, start + BATCH_ROWS).map(({ id }) => id));
  }
}

export async function updateRow<Table extends PgTable & { id: PgColumn }>(
  tx: Orm,
  table: Table,
  id: string,
  change: PgUpdateSetSource<Table>,
): Promise<void> {
  await tx.update(table).set(change).where(eq(table.id, id));
}

/**
 * Returns the condition for rows after the id `starting_after`, or undefined for the first page.
 *
 * This operator and that of {@link byId} are for queries that read one page of an owner's rows. With the usual
 * operators, the planner may scan the primary key, which has the same order. At the end of a long list, such a scan
 * reads the whole table. Only indexes that begin with the owner support the operators of text_pattern_ops. In the
 * collation "C", these operators give the same order.
 */
export function idAfter(id: PgColumn, starting_after: string | null): SQL | undefined {
  return starting_after === null ? undefined : sql`${id} ~>~ ${starting_after}`;
}

/** Returns the ORDER BY term for ascending ids. */
export function byId(id: PgColumn): SQL {
  return sql`${id} using ~<~`;
}
