import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { eq } from "drizzle-orm";
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

/** Changes the row of `table` with this id. */
export async function updateRow<Table extends PgTable & { id: PgColumn }>(
  tx: Orm,
  table: Table,
  id: string,
  change: PgUpdateSetSource<Table>,
): Promise<void> {
  await tx.update(table).set(change).where(eq(table.id, id));
}
