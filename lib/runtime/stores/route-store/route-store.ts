/**
 * A small key-value store with watches: etcd, or the memory of one process (OP-11). Methods reject with
 * `StoreUnavailable` after the adapter's timeout. A rejected write may still be applied later; `writeFenced` makes it
 * harmless.
 */
export interface RouteStore {
  get(key: string): Promise<RouteEntry | null>;
  /** Returns all entries below `prefix` in key order, as of one revision. Their number is not limited. */
  list(prefix: string): Promise<RouteListing>;
  /** Returns the revisions and the number of entries below `prefix`, without their values. */
  summarize(prefix: string): Promise<RouteSummary>;
  /** Writes a value unconditionally. Only operators' tools and tests use this method. */
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Writes `value` to `key`, or deletes the key if `value` is null, and records `fence.value` at `fence.key`. Writes
   * nothing if a greater number is recorded there, so that a late or repeated write cannot replace a newer one. Returns
   * false if a greater number is recorded: then nothing was written, or a newer write has replaced this one.
   */
  writeFenced(write: FencedWrite): Promise<boolean>;
  /**
   * Calls `listener` for every change below `prefix`, and after each interruption: the watch survives lost connections,
   * restarts, compactions and silent nodes. From the time when the watch is established, a new listing and the later
   * changes together are complete. After an interruption, the caller needs a new listing.
   */
  watch(prefix: string, listener: RouteListener): Promise<RouteWatch>;
  /**
   * Returns a lease for `key`. The store removes the key when this process dies. The lease writes its value again after
   * a while if others change the key.
   */
  lease(key: string, options: LeaseOptions): RouteLease;
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Revisions number all writes to the store, and order any two changes. */
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
  /** The entries contain all changes up to this revision, and no later ones. */
  revision: number;
  entries: RouteEntry[];
}

export interface RouteSummary {
  /** The revision of the store at the time of the read. */
  revision: number;
  /** The revision of the latest write among the entries, or 0 if there are no entries. */
  newest: number;
  count: number;
}

export interface RouteListener {
  /** Called with changes in the order of their revisions. Changes of one revision arrive in one call. */
  changed(changes: readonly RouteChange[]): void;
  /** Called when the watch has restarted and may have missed changes. */
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
  /** The time after which the store removes the key if its holder does not renew the lease. */
  ttlSeconds: number;
  /** Called when the store refuses or loses the key, and not again before {@link onRecovery}. */
  onFailure: (error: unknown) => void;
  /** Called when the store has the key again. */
  onRecovery: () => void;
}

export interface RouteLease {
  /**
   * Sets the key's value and returns at once. The latest value is written in the background, a few times a second at
   * most, and again after the store was unavailable, lost the key or received another value for it.
   */
  put(value: string): void;
  /** Removes the key. If the store does not respond soon, the key disappears after its time to live. */
  release(): Promise<void>;
}
