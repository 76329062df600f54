/** Time, as everything that waits, expires or measures sees it. Tests bring `ManualClock`. */
export interface Clock {
  /** Milliseconds since the epoch, by the wall clock: it may be set back. */
  now(): number;
  /** Milliseconds since some moment, with fractions: never goes back, so it is for durations. */
  elapsed_ms(): number;
  /** Runs `work` once, `ms` from now; the function that it gives cancels that. */
  after(ms: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed_ms: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};
