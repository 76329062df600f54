import { systemClock } from "../../async/index.ts";
import { systemErrorCode } from "../../domain/errors/index.ts";

/** The namespaces of the stores without schemas. */
export const COUNTERS_NAMESPACE = "rate_limits";
export const ROUTE_STORE_NAMESPACE = "edge/gateway/routes";

/** Called after every operation on a store, for the `db_operation*` metrics and spans (OP-48). */
export type StoreObserver = (operation: StoreOperation) => void;

/** The names that identify an operation on a store. */
interface OperationName {
  /** The system: `postgresql`, `etcd`, `redis` or `memory`. */
  system: string;
  /** The operation's name in code, such as `select_member`; never a statement or an id. */
  operation: string;
  /** The database schema or key prefix, such as `identity` or `edge/gateway/routes`. */
  namespace: string;
}

export interface StoreOperation extends OperationName {
  duration_ms: number;
  failed: boolean;
  /** The kind of failure: an error code, or the name of an error class. */
  errorType?: string;
}

export const observeNothing: StoreObserver = () => {};

/** Runs `work`, and reports to `observer` how long `work` took and whether it failed. */
export async function observed<T>(
  observer: StoreObserver,
  name: OperationName,
  work: () => Promise<T>,
): Promise<T> {
  const startedMs = systemClock.elapsedMs();
  const duration_ms = () => systemClock.elapsedMs() - startedMs;
  try {
    const result = await work();
    observer({ ...name, duration_ms: duration_ms(), failed: false });
    return result;
  } catch (error) {
    observer({ ...name, duration_ms: duration_ms(), failed: true, errorType: errorTypeOf(error) });
    throw error;
  }
}

function errorTypeOf(error: unknown): string {
  return systemErrorCode(error) ?? (error instanceof Error ? error.name : "_OTHER");
}
