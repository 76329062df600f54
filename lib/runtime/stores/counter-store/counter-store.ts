/** Fixed-window counters in Redis (one server or a cluster), or in the memory of one process (OP-11, GW-68). */
export interface CounterStore {
  /**
   * Adds one to `bucket` in one atomic round trip. The first increment opens a window of `window_seconds`; a longer one
   * is shortened. Rejects with `StoreUnavailable` after 500 ms, or at once while the connection is down. A rejected
   * increment is never sent later.
   */
  increment(bucket: string, window_seconds: number): Promise<WindowCount>;
  /**
   * Adds one to each bucket if none is exhausted, in one atomic round trip. A count above a bucket's `requests` means
   * that nothing was added. On a cluster, all buckets must be in the same hash slot. Resolves with null and adds
   * nothing if a bucket without a count has a null `start`, and no other bucket is exhausted.
   */
  charge(charges: readonly Charge[]): Promise<ChargedWindow[] | null>;
  /** Subtracts one from each bucket whose charged window is open and was not shortened. Returns whether it did. */
  refund(refunds: readonly Refund[]): Promise<boolean[]>;
  /** Whether the store distributes buckets over several servers, by the part of the key in braces. */
  readonly isSpread: boolean;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A bucket that is incremented if it is not exhausted. */
export interface Charge {
  readonly bucket: string;
  readonly windowMs: number;
  /** Whether the window is a calendar period. Its end is never moved, because the clocks of gateways differ. */
  readonly isPeriod: boolean;
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
  readonly endsMs: number;
}
