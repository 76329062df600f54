import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { becomeWriter, WRITERS_LANE } from "./queries.ts";

/** What every change of the published routes needs. */
export interface Publishing {
  database: Database;
  /** Told after each commit; it must not wait. */
  onCommit: () => void;
}

/**
 * Runs a change of the published routes: one transaction that has waited for all writers before it, so what it
 * finds of other services still holds when it commits. Two services never own one route, nor disagree on a
 * shared policy (Gateway specification, rules 10 and 11). `fence` is the number of the write; see `becomeWriter`.
 */
export async function publish<T>(
  { database, onCommit }: Publishing,
  operation: string,
  change: (tx: Orm, fence: number) => Promise<T>,
): Promise<T> {
  const result = await database.transaction(operation, async (tx) => change(tx, await becomeWriter(tx)), {
    lane: WRITERS_LANE,
  });
  onCommit();
  return result;
}
