/**
 * A small key-value store with watches: etcd, or memory for one process (OP-11).
 *
 * Every method rejects with `StoreUnavailable` when the store exceeds the adapter's timeout. A write that was
 * rejected in this way may still be applied later; `writeFenced` makes that harmless.
 */
export interface RouteStore {
  get(key: string): Promise<RouteEntry | null>;
  /**
   * Returns every entry below `prefix` in key order, as of one revision. Reads pages, so the number of
   * entries is not limited.
   */
  list(prefix: string): Promise<RouteListing>;
  /** Returns the revisions and the number of the entries below `prefix`, without their values. */
  summarize(prefix: string): Promise<RouteSummary>;
  /** Writes unconditionally, for operators' tools and tests. */
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Puts `value` at `key` (null: deletes it) and records `fence.value` at `fence.key` in one step, unless a
   * greater number is recorded. A delayed or repeated write can therefore never replace a newer one. Returns
   * false if a greater number was found: nothing was written, or the write has been replaced since.
   */
  writeFenced(write: FencedWrite): Promise<boolean>;
  /**
   * Reports every change below `prefix` to `listener`. Resumes after a lost connection, a restart, a
   * compaction or a silent node, and reports each interruption. Resolves once the watch is in place. A later
   * listing and the reported changes together miss nothing; after an interruption a new listing is needed.
   */
  watch(prefix: string, listener: RouteListener): Promise<RouteWatch>;
  /**
   * Returns a lease of `key`. The key is removed by `release`, or by its time to live after this process has
   * ended. The lease's value replaces what others write to the key.
   */
  lease(key: string, options: LeaseOptions): RouteLease;
  /** Resolves if the store answers within `timeout_ms`, else rejects with `StoreUnavailable`. */
  ping(timeout_ms: number): Promise<void>;
  close(): Promise<void>;
}

/** A change of a key. Revisions number the writes to the store, so they order any two changes. */
export interface RouteChange {
  key: string;
  /** The new value, or null if the key was deleted. */
  value: string | null;
  revision: number;
}

export interface RouteEntry extends RouteChange {
  value: string;
}

export interface RouteListing {
  /** The revision of the listing: the entries include all changes up to it and no later ones. */
  revision: number;
  entries: RouteEntry[];
}

export interface RouteSummary {
  /** The revision of the store at the time of the read. */
  revision: number;
  /** The latest revision at which one of the entries was written; 0 without entries. */
  newest: number;
  /** The number of entries. */
  count: number;
}

export interface RouteListener {
  /** Receives changes in the order of their revisions. Changes of one revision arrive together. */
  changed(changes: readonly RouteChange[]): void;
  /** Reports that the watch restarted and may have missed changes. */
  interrupted(): void;
}

export interface FencedWrite {
  key: string;
  value: string | null;
  fence: { key: string /** A non-negative safe integer. */; value: number };
}

export interface RouteWatch {
  close(): Promise<void>;
}

export interface LeaseOptions {
  /** The time to live of the key without a renewal by its holder. */
  ttl_seconds: number;
  /** Reports why the store refused or lost the key. Called once, until {@link onRecovery}. */
  onFailure: (error: unknown) => void;
  /** Reports that the store has the key again. */
  onRecovery: () => void;
}

export interface RouteLease {
  /**
   * Sets the key's value and returns at once. The latest value is written in the background, a few times a
   * second at most. The value is written again after the store was unavailable, lost the key or got another
   * value.
   */
  put(value: string): void;
  /** Removes the key. If the store does not answer soon, it removes the key after the time to live. */
  release(): Promise<void>;
}
