/** The source of time for timers, expiry times and measurements. Tests use `ManualClock`. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since the epoch. The wall clock can be set back. */
  now(): number;
  /** Returns monotonic milliseconds, with fractions, since an arbitrary start. */
  elapsedMs(): number;
  after(ms: number, work: () => void): () => void;
}

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
