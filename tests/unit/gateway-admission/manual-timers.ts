import { clock, type ManualClock } from "../../support/index.ts";

/** A clock whose timers run when it is moved past them. */
export interface ManualTimers extends ManualClock {
  after(ms: number, work: () => void): () => void;
  /** Milliseconds until each timer that waits, soonest first. */
  waiting(): number[];
}

export function manualTimers(start?: string): ManualTimers {
  const time = clock(start);
  const timers = new Set<{ at: number; work: () => void }>();
  return {
    ...time,
    advance(milliseconds) {
      time.advance(milliseconds);
      for (const timer of [...timers].filter(({ at }) => at <= time.now())) {
        timers.delete(timer);
        timer.work();
      }
    },
    after(ms, work) {
      const timer = { at: time.now() + ms, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    waiting: () => [...timers].map(({ at }) => at - time.now()).sort((a, b) => a - b),
  };
}
