/**
 * Fixed-window counters in Redis (one server or a cluster), or in the memory of one process (OP-11, GW-68).
 */
export interface CounterStore {
  /**
   * Adds one to `bucket` in one atomic round trip. The first increment opens the window of `window_seconds`;
   * later increments do not extend it. A window that has more than `window_seconds` left, because it was opened with
   * a greater length, is shortened to `window_seconds`. Rejects with `StoreUnavailable` after 500 ms, or immediately while the
   * connection is down. A rejected increment is never sent later.
   */
  increment(bucket: string, window_seconds: number): Promise<WindowCount>;
  /**
   * Adds one to each bucket if no bucket is exhausted, in one atomic round trip. Returns the count of each bucket. A
   * count above the bucket's `requests` means that the store added nothing to any bucket. Windows and rejections are
   * as in {@link increment}. On a cluster, all buckets must be in the same hash slot. Resolves with null and adds
   * nothing if a bucket without a count has a null `start`, and no other bucket is exhausted.
   */
  charge(charges: readonly Charge[]): Promise<ChargedWindow[] | null>;
  /**
   * Subtracts one from each bucket whose charged window is still open and was not shortened since. Returns for each
   * refund whether the store did so.
   */
  refund(refunds: readonly Refund[]): Promise<boolean[]>;
  /** Whether the store distributes buckets over several servers, by the part of the key in braces. */
  readonly isSpread: boolean;
  /** Resolves if the store responds within 500 ms. Otherwise rejects with `StoreUnavailable`. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A bucket that is incremented if it is not exhausted. */
export interface Charge {
  readonly bucket: string;
  /** The length of a new window. */
  readonly windowMs: number;
  /** Whether the window is a calendar period. Its end is never moved, because the clocks of gateways differ. */
  readonly isPeriod: boolean;
  /** The number of requests that the window admits. */
  readonly requests: number;
  /** The initial count of a new window, or null if it is unknown. An open window keeps its own count. */
  readonly start: number | null;
}

export interface WindowCount {
  /** The count in the current window, including this increment. */
  count: number;
  /** The milliseconds until the window ends, at least 1. */
  ttlMs: number;
}

export interface ChargedWindow extends WindowCount {
  /** The end of the window on the store's clock, which names the window: no two windows of a bucket end together. */
  endsMs: number;
}

/** A charge that is given back. */
export interface Refund {
  readonly bucket: string;
  /** The end of the window that was charged. */
  readonly endsMs: number;
}
