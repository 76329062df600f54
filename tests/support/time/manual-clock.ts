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
  let elapsedMs = 0;
  const timers = new Set<{ atMs: number; work: () => void }>();
  const soonest = () => [...timers].sort((a, b) => a.atMs - b.atMs);
  const moveTo = (atMs: number) => {
    now += atMs - elapsedMs;
    elapsedMs = atMs;
  };
  return {
    now: () => now,
    elapsedMs: () => elapsedMs,
    date: () => new Date(now),
    set(time) {
      now = new Date(time).getTime();
    },
    after(ms, work) {
      const timer = { atMs: elapsedMs + ms, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    waiting: () => soonest().map(({ atMs }) => atMs - elapsedMs),
    advance(ms) {
      const endMs = elapsedMs + ms;
      for (let next = soonest()[0]; next !== undefined && next.atMs <= endMs; next = soonest()[0]) {
        timers.delete(next);
        moveTo(Math.max(next.atMs, elapsedMs));
        next.work();
      }
      moveTo(endMs);
    },
  };
}
