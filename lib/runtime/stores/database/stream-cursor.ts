import { type SQL, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { ConnectionLost } from "./failure.ts";
import { rows } from "./orm.ts";

/** Yields rows in batches from a cursor, whose read-only transaction provides one snapshot. */
export async function* streamCursor<Row>(
  database: Database,
  operation: string,
  statement: SQL,
  batchRows: number,
): AsyncGenerator<Row[], void, void> {
  const { readable, writable } = new TransformStream<Row[], Row[]>();
  const writer = writable.getWriter();
  let begun = false;
  const finished = database
    .transaction(
      operation,
      async (tx) => {
        if (begun) throw new ConnectionLost("The connection was lost in the middle of a stream.");
        await rows(tx, sql`declare stream no scroll cursor for ${statement}`);
        const next = sql`fetch ${sql.raw(String(batchRows))} from stream`;
        for (;;) {
          const batch = await rows<Row>(tx, next);
          if (batch.length === 0) return;
          begun = true;
          const read = await writer.write(batch).then(
            () => true,
            () => false,
          );
          if (!read || batch.length < batchRows) return;
        }
      },
      { isolation: "repeatable read", readOnly: true, deadlineMs: "progress" },
    )
    .then(
      () => writer.close(),
      (error) => writer.abort(error),
    )
    .catch(() => {}); // the reader has stopped, or has received the error
  try {
    for await (const batch of readable) yield batch;
  } finally {
    await finished;
  }
}
