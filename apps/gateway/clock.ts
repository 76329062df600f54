/** Time, as the parts of the gateway that wait or expire things see it; tests bring their own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `work` once, `ms` from now. The answer calls it off. */
  after(ms: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};
