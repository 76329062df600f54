/** The source of time for all code that waits, expires or measures. Tests use `ManualClock`. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since the epoch. The wall clock can be set back. */
  now(): number;
  /**
   * Returns fractional milliseconds since an arbitrary start. The value never goes back, so durations use it.
   */
  elapsed_ms(): number;
  /** Runs `work` once after `ms` milliseconds. The returned function cancels the timer. */
  after(ms: number, work: () => void): () => void;
}

/** Resolves after `ms` milliseconds of this clock. */
export function pause(clock: Pick<Clock, "after">, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed_ms: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};
