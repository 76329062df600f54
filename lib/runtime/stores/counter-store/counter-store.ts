/**
 * Fixed-window counters in Redis (one server or a cluster), or in the memory of one process (OP-11, GW-68).
 */
export interface CounterStore {
  /**
   * Adds one to `bucket` in one atomic round trip. The first increment opens the window of `window_seconds`,
   * which later increments never extend. Rejects with `StoreUnavailable` after 500 ms, or at once while the
   * connection is down. This client never executes a rejected increment later.
   */
  increment(bucket: string, window_seconds: number): Promise<WindowCount>;
  /**
   * Adds one to every bucket if none of them is exhausted, in one atomic round trip, and returns the count of
   * each. A count above the `requests` of its bucket is a refusal: nothing was added, and the other counts
   * are unchanged. Windows open, and failures reject, as for {@link increment}. On a cluster, the buckets
   * must share a slot.
   *
   * Resolves with null when the store has no count of a bucket whose start is unknown, and no other bucket is
   * exhausted. Nothing was added in that case.
   */
  charge(charges: readonly Charge[]): Promise<WindowCount[] | null>;
  /** Subtracts one from each bucket whose charged window is still open. */
  refund(refunds: readonly Refund[]): Promise<void>;
  /** Whether the store spreads buckets over servers by the part of the key in braces. */
  readonly isSpread: boolean;
  /** Resolves if the store answers within `timeout_ms`, else rejects with `StoreUnavailable`. */
  ping(timeout_ms: number): Promise<void>;
  close(): Promise<void>;
}

/** A bucket to increment if it is not exhausted. */
export interface Charge {
  readonly bucket: string;
  readonly window_ms: number;
  /** The requests that the window admits. */
  readonly requests: number;
  /** The initial count of a new window; null if it is unknown. An open window keeps its own count. */
  readonly start: number | null;
}

export interface Refund {
  readonly bucket: string;
  /** The time that the charged window has left now. A window with more time left is a later one. */
  readonly ttl_ms: number;
}

export interface WindowCount {
  /** The counter's value in the current window, after this increment. */
  count: number;
  /** The milliseconds until the window ends, at least 1. */
  ttl_ms: number;
}
