import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import type { Propagations } from "../gateways/propagation.ts";
import { becomeWriter, WRITERS_LANE } from "./queries.ts";

/** What every change of the published routes needs. */
export interface Publishing {
  database: Database;
  /** Told of the fence after each commit; it must not wait. */
  onCommit: (fence: number) => void;
  /** For those who wait until a write is served. */
  propagations: Pick<Propagations, "wait">;
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
  const work = async (tx: Orm) => {
    const fence = await becomeWriter(tx);
    return { fence, result: await change(tx, fence) };
  };
  const { fence, result } = await database.transaction(operation, work, { lane: WRITERS_LANE });
  onCommit(fence);
  return result;
}
