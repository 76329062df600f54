import { type Clock, systemClock } from "./clock.ts";

const TICK_MS = 25;
/** The time that a stall of the process counts, however long it is. */
const STALL_MS = 2 * TICK_MS;

/**
 * Returns a clock that does not count the time in which this process cannot run: a throttled container, a migrated
 * machine, a blocked event loop. When the process continues, timers run before it reads what has arrived. A timeout on
 * the system clock therefore fails calls whose responses have arrived.
 *
 * Time passes only while a timer is pending. All timers share one timer of `clock`, and are at most a tick late.
 */
export function createUnstalledClock(clock: Clock = systemClock): Clock {
  const dueAt = new Map<number, Set<{ work: () => void }>>();
  let ticks = 0;
  let passedMs = 0;
  let seenMs = 0;
  let isTicking = false;
  const elapsedMs = () => (isTicking ? passedMs + Math.min(clock.elapsedMs() - seenMs, STALL_MS) : passedMs);
  const onTick = () => {
    passedMs = elapsedMs();
    seenMs = clock.elapsedMs();
    const due: Set<{ work: () => void }>[] = [];
    while ((ticks + 1) * TICK_MS <= passedMs) {
      ticks += 1;
      due.push(dueAt.get(ticks) ?? new Set());
      dueAt.delete(ticks);
    }
    isTicking = dueAt.size > 0;
    if (isTicking) clock.after(TICK_MS, onTick);
    for (const timers of due) for (const { work } of timers) work();
  };
  return {
    now: clock.now,
    elapsedMs,
    after(ms, work) {
      if (!isTicking) {
        isTicking = true;
        seenMs = clock.elapsedMs();
        clock.after(TICK_MS, onTick);
      }
      const tick = Math.max(ticks + 1, Math.ceil((elapsedMs() + ms) / TICK_MS));
      const timer = { work };
      const timers = dueAt.getOrInsertComputed(tick, () => new Set());
      timers.add(timer);
      return () => {
        timers.delete(timer);
        if (timers.size === 0 && dueAt.get(tick) === timers) dueAt.delete(tick);
      };
    },
  };
}

/** The clock of the timeouts for clients, services and databases. */
export const unstalledClock = createUnstalledClock();
