import { systemClock } from "../../async/index.ts";
import { errorCode } from "../../domain/errors/index.ts";

/** Told of every operation on a store, for `db_operation*` metrics and spans (Gateway specification, Emitted signals). */
export type StoreObserver = (operation: StoreOperation) => void;

/** What a store knows about an operation before it begins. */
export interface OperationName {
  /** `postgresql`, `etcd`, `redis` or `memory`. */
  system: string;
  /** A name from code such as `select_member`, never a statement or an id. */
  operation: string;
  /** Schema or key prefix, such as `identity` or `edge/gateway/routes`. */
  namespace: string;
}

export interface StoreOperation extends OperationName {
  duration_ms: number;
  failed: boolean;
  /** What kind of failure it was: a code, or the name of an error. */
  error_type?: string;
}

export const observeNothing: StoreObserver = () => {};

/** Runs `work` and tells `observer` how long it took and whether it failed. */
export async function observed<T>(
  observer: StoreObserver,
  name: OperationName,
  work: () => Promise<T>,
): Promise<T> {
  const started_ms = systemClock.elapsed_ms();
  const duration_ms = () => systemClock.elapsed_ms() - started_ms;
  try {
    const result = await work();
    observer({ ...name, duration_ms: duration_ms(), failed: false });
    return result;
  } catch (error) {
    observer({ ...name, duration_ms: duration_ms(), failed: true, error_type: errorTypeOf(error) });
    throw error;
  }
}

function errorTypeOf(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.name : "_OTHER");
}

/** Tells each of two. */
export function observingBoth(one: StoreObserver, other: StoreObserver): StoreObserver {
  return (operation) => {
    one(operation);
    other(operation);
  };
}
