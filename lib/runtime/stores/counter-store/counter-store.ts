/**
 * Fixed-window counters: Redis (one server or a cluster), or memory for one process (contract 1; Gateway
 * specification, Rate limiting).
 */
export interface CounterStore {
  /**
   * Adds one to `bucket` in one atomic round trip. The first increment opens the window of `window_seconds`,
   * which later increments never move. Rejects with `StoreUnavailable` after 500 ms, or at once while the
   * connection is known to be down; a rejected increment is never executed afterwards by this client.
   */
  increment(bucket: string, window_seconds: number): Promise<WindowCount>;
  /** Resolves when the store answers within `timeout_ms`, else rejects with `StoreUnavailable`. */
  ping(timeout_ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface WindowCount {
  /** Increments in this window, this one included. */
  count: number;
  /** Milliseconds until the window ends, at least 1. */
  ttl_ms: number;
}
