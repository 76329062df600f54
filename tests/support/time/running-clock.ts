import { type Clock, systemClock } from "@ostiary/lib/async";

const TICK_MS = 10;
/**
 * The maximum time that passes between two ticks, however long the process waits for the processor. It is longer than
 * an iteration of a busy event loop, so that the clock keeps up with the clock of the database.
 */
const STEP_MS_MAX = 250;

interface Timer {
  readonly atMs: number;
  readonly work: () => void;
}

/**
 * Returns the system clock with other timers and another monotonic clock: hardly any time passes on them while this
 * process does not run. On a busy machine, a process can stop for seconds. A service with this clock does not mistake
 * such a stop for a slow client or a slow sealer, which also stop.
 */
function createRunningClock(): Clock {
  const timers = new Set<Timer>();
  let passedMs = 0;
  let seenMs = systemClock.elapsedMs();
  let ticker: NodeJS.Timeout | undefined;
  const elapsedMs = () => passedMs + Math.min(systemClock.elapsedMs() - seenMs, STEP_MS_MAX);
  const tick = () => {
    passedMs = elapsedMs();
    seenMs = systemClock.elapsedMs();
    const due = [...timers].filter(({ atMs }) => atMs <= passedMs);
    for (const timer of due.toSorted((a, b) => a.atMs - b.atMs)) {
      if (timers.delete(timer)) timer.work();
    }
    if (timers.size > 0) return;
    clearInterval(ticker);
    ticker = undefined;
  };
  return {
    now: systemClock.now,
    elapsedMs,
    after(ms, work) {
      const timer = { atMs: elapsedMs() + ms, work };
      timers.add(timer);
      ticker ??= setInterval(tick, TICK_MS);
      return () => void timers.delete(timer);
    },
  };
}

/** The clock of all services that tests start in this process, unless a test gives another one. */
export const runningClock = createRunningClock();
