/** The source of time for timers, expiry times and measurements. Tests use `ManualClock`. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since the epoch. The wall clock can be set back. */
  now(): number;
  /**
   * Returns monotonic milliseconds, with fractions, since an arbitrary start. Use it to measure durations.
   */
  elapsedMs(): number;
  /** Runs `work` once after `ms` milliseconds. The returned function cancels the timer. */
  after(ms: number, work: () => void): () => void;
}

/** Resolves after `ms` milliseconds on `clock`. */
export function pause(clock: Pick<Clock, "after">, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};
