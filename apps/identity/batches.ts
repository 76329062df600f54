/** Rows that one statement of a large write touches: few enough that none comes near the statement timeout. */
const BATCH_ROWS = 20_000;

/** Runs `work` on rows, by their ids, tens of thousands at a time and one after the other. */
export async function inBatches(
  rows: readonly { id: string }[],
  work: (ids: string[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    await work(rows.slice(start, start + BATCH_ROWS).map(({ id }) => id));
  }
}
