import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import type { Propagations } from "../gateways/propagations.ts";
import type { Writes } from "../operators/write-permission.ts";
import { becomeWriter, WRITERS_LANE } from "./publishing-sql.ts";
import { CheckIsStale, RouteTestCheck, type TestedRoutes } from "./route-tests.ts";

/** The dependencies of every change of the published routes. */
export interface Publishing extends TestedRoutes {
  database: Database;
  /** Called with the fence of each commit. Must not block. */
  onCommit: (fence: number) => void;
  /** Counts the services that an operator has written. */
  countWrites: (operator: string, services: number) => void;
  /** Waits until the gateways serve a committed write. */
  propagations: Pick<Propagations, "wait">;
}

/** A change of the published routes. */
interface PublishedChange<T> {
  /** The name of the change in metrics. */
  readonly operation: string;
  /** Returns the services that the change will write, as far as they are known before the transaction. */
  readonly writes: () => Writes | Promise<Writes>;
  readonly change: (tx: Orm, writer: Writer) => Promise<T>;
}

/** The state of a change while it is the only writer. */
export interface Writer {
  /** The fence of the write; see `becomeWriter`. */
  readonly fence: number;
  /** Throws a 422 if the writes break a route test; see {@link RouteTestCheck.refuseBroken}. */
  refuseBrokenTests(writes: Writes, pathPrefix?: (service: string) => string): Promise<void>;
}

/** The maximum number of checks of one write before the lock. The last check is repeated as the only writer. */
const CHECKS_MAX = 4;

/**
 * Runs a change of the published routes in a transaction that waits for all earlier writers. No other writer can
 * change a service between the reads and the commit of `change`. So two services never own the same route or disagree
 * on a shared policy (RG-28, RG-32).
 *
 * Route tests can be much work, so they are checked before the transaction. If another writer changes routes in the
 * meantime, the check and the transaction start again.
 */
export async function publish<T>(
  publishing: Publishing,
  { operation, writes, change }: PublishedChange<T>,
): Promise<T> {
  const { database, onCommit } = publishing;
  for (let checks = 1; ; checks++) {
    const check = await RouteTestCheck.of(publishing, await writes());
    const work = async (tx: Orm) => {
      const fence = await becomeWriter(tx);
      const isLast = checks === CHECKS_MAX;
      const refuseBrokenTests: Writer["refuseBrokenTests"] = (written, pathPrefix) =>
        check.refuseBroken(tx, written, { isLast, ...(pathPrefix && { pathPrefix }) });
      return { fence, result: await change(tx, { fence, refuseBrokenTests }) };
    };
    try {
      const { fence, result } = await database.transaction(operation, work, { lane: WRITERS_LANE });
      onCommit(fence);
      return result;
    } catch (error) {
      if (!(error instanceof CheckIsStale)) throw error;
    }
  }
}
