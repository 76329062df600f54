/** Told of every operation on a store, for `db_operation*` metrics and spans (Gateway specification, Emitted signals). */
export type StoreObserver = (operation: StoreOperation) => void;

export interface StoreOperation {
  /** `postgresql`, `etcd`, `redis` or `memory`. */
  system: string;
  /** A name from code such as `select_member`, never a statement or an id. */
  operation: string;
  /** Schema or key prefix, such as `identity` or `edge/gateway/routes`. */
  namespace: string;
  duration_ms: number;
  failed: boolean;
}

export const observeNothing: StoreObserver = () => {};
