import type { Clock } from "@ostiary/lib/async";

const DEFAULT_START = "2026-01-01T00:00:00.000Z";

/** A clock that moves only with `advance`, which runs the timers that are due, the earliest first. */
export interface ManualClock extends Clock {
  date(): Date;
  advance(ms: number): void;
  /** Sets the wall clock, as an administrator would. The monotonic clock does not move, and no timer runs. */
  set(time: number | string | Date): void;
  /** Returns the number of milliseconds until each pending timer runs, the earliest first. */
  waiting(): number[];
}

export function manualClock(start: number | string | Date = DEFAULT_START): ManualClock {
  let now = new Date(start).getTime();
  let elapsed_ms = 0;
  const timers = new Set<{ at_ms: number; work: () => void }>();
  const soonest = () => [...timers].sort((a, b) => a.at_ms - b.at_ms);
  const moveTo = (at_ms: number) => {
    now += at_ms - elapsed_ms;
    elapsed_ms = at_ms;
  };
  return {
    now: () => now,
    elapsed_ms: () => elapsed_ms,
    date: () => new Date(now),
    set(time) {
      now = new Date(time).getTime();
    },
    after(ms, work) {
      const timer = { at_ms: elapsed_ms + ms, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    waiting: () => soonest().map(({ at_ms }) => at_ms - elapsed_ms),
    advance(ms) {
      const end_ms = elapsed_ms + ms;
      for (let next = soonest()[0]; next !== undefined && next.at_ms <= end_ms; next = soonest()[0]) {
        timers.delete(next);
        moveTo(Math.max(next.at_ms, elapsed_ms));
        next.work();
      }
      moveTo(end_ms);
    },
  };
}
