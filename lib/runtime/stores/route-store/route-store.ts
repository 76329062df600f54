/**
 * A small key-value store that can be watched: etcd, or memory for one process (contract 1).
 *
 * Every method rejects with `StoreUnavailable` when the store does not answer within the adapter's deadline.
 * A write that was rejected that way may still be applied later; `writeFenced` makes that harmless.
 */
export interface RouteStore {
  get(key: string): Promise<RouteEntry | null>;
  /** Every entry below `prefix` in key order, as of one moment; read in pages, so size is no limit. */
  list(prefix: string): Promise<RouteEntry[]>;
  /** Unconditional write, for operators' tools and tests. */
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Puts `value` at `key` (null: deletes it) and records `fence.value` at `fence.key`, in one step, unless a
   * greater number is recorded there already. A write that is delayed, retried or sent by another replica can
   * therefore never replace a newer one. Returns false when a greater number was found: nothing was written, or
   * what was written has been replaced since.
   */
  writeFenced(write: FencedWrite): Promise<boolean>;
  /**
   * Calls `onChange` after any change below `prefix`, whoever made it, and once after each time the watch was set
   * up anew, since changes may have passed unseen. Calls are coalesced, never lost. Resumes by itself after a
   * cut, a restart, a compaction or the silence of a node. Resolves once the watch is in place.
   */
  watch(prefix: string, onChange: () => void): Promise<RouteWatch>;
  /** Resolves when the store answers within `timeout_ms`, else rejects with `StoreUnavailable`. */
  ping(timeout_ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface RouteEntry {
  key: string;
  value: string;
}

export interface FencedWrite {
  key: string;
  value: string | null;
  fence: { key: string /** A non-negative safe integer. */; value: number };
}

export interface RouteWatch {
  close(): Promise<void>;
}
