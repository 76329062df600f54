/**
 * A small key-value store that can be watched: etcd, or memory for one process (contract 1).
 *
 * Every method rejects with `StoreUnavailable` when the store does not answer within the adapter's deadline.
 * A write that was rejected that way may still be applied later; `writeFenced` makes that harmless.
 */
export interface RouteStore {
  get(key: string): Promise<RouteEntry | null>;
  /** Every entry below `prefix` in key order, as of one revision; read in pages, so size is no limit. */
  list(prefix: string): Promise<RouteListing>;
  /** How far the entries below `prefix` are, without reading them. */
  summarize(prefix: string): Promise<RouteSummary>;
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
   * Tells `listener` of every change below `prefix`, whoever made it. Resumes by itself after a cut, a restart, a
   * compaction or the silence of a node, and says each time that it was interrupted. Resolves once the watch is in
   * place: a listing that is asked for after that, or after an interruption, and the changes told together miss
   * nothing.
   */
  watch(prefix: string, listener: RouteListener): Promise<RouteWatch>;
  /** An entry that lasts no longer than this process: the one at `key`, whoever else writes there. */
  lease(key: string, options: LeaseOptions): RouteLease;
  /** Resolves when the store answers within `timeout_ms`, else rejects with `StoreUnavailable`. */
  ping(timeout_ms: number): Promise<void>;
  close(): Promise<void>;
}

/** What was written at a key. Revisions count the writes to the store, and so tell the order of any two. */
export interface RouteChange {
  key: string;
  /** null: it was deleted. */
  value: string | null;
  revision: number;
}

export interface RouteEntry extends RouteChange {
  value: string;
}

export interface RouteListing {
  /** Changes up to this one are in the entries, later ones are not. */
  revision: number;
  entries: RouteEntry[];
}

export interface RouteSummary {
  /** What the store's revision was when it was looked at. */
  revision: number;
  /** The latest revision at which one of the entries was written; 0 when there are none. */
  newest: number;
  /** How many entries there are. */
  count: number;
}

export interface RouteListener {
  /** Changes in the order of their revisions; those of one revision come together. */
  changed(changes: readonly RouteChange[]): void;
  /** The watch was set up anew: changes may have passed unseen before. */
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
  /** How long the entry stays without a sign of life from its holder. */
  ttl_seconds: number;
  /** The store does not take the entry, or lost it, and why. Told once, until {@link onRecovery}. */
  onFailure: (error: unknown) => void;
  /** The store has the entry again. */
  onRecovery: () => void;
}

export interface RouteLease {
  /**
   * The entry's value from now on. Returns at once: the latest value is written in the background, a few times a
   * second at most, and again when the store was away, lost the entry or has another in its place.
   */
  put(value: string): void;
  /** Takes the entry away, or leaves it to its time where the store does not answer soon. */
  release(): Promise<void>;
}
