import type { Roles } from "@ostiary/lib/domain/routes";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import type { Propagations } from "../gateways/propagations.ts";
import { becomeWriter, WRITERS_LANE } from "./sql.ts";

/** The dependencies of every change of the published routes. */
export interface Publishing {
  database: Database;
  /** Called with the fence of each commit. Must not block. */
  onCommit: (fence: number) => void;
  /** Counts the services that an operator has written. */
  countWrites: (operator: string, services: number) => void;
  /** Waits until the gateways serve a committed write. */
  propagations: Pick<Propagations, "wait">;
  /** The roles that route tests may name. */
  roles: Roles;
}

/**
 * Runs a change of the published routes in a transaction that waits for all earlier writers. No other writer can
 * change a service between the reads and the commit of `change`. So two services never own the same route or disagree
 * on a shared policy (RG-28, RG-32). `change` gets the fence of the write; see `becomeWriter`.
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
