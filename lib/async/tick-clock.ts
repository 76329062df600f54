import { type Clock, systemClock } from "./clock.ts";

/**
 * Returns a clock whose timers count ticks. A tick is an event-loop iteration at least `tickMs` after the
 * previous tick. There are no ticks while the process is too busy to read data that has arrived. A timeout on
 * this clock therefore does not mistake a healthy server for a silent one.
 *
 * All timers share one timer of `clock`, which runs only while a timer is pending. Unless the process is
 * busy, a timer is at most two ticks late.
 */
export function tickClock(tickMs: number, clock: Clock = systemClock): Clock {
  const dueAt = new Map<number, Set<{ work: () => void }>>();
  let tick = 0;
  let ticking = false;
  const awaitTick = () => {
    ticking = dueAt.size > 0;
    if (ticking) clock.after(tickMs, onTick);
  };
  const onTick = () => {
    tick += 1;
    const due = dueAt.get(tick) ?? [];
    dueAt.delete(tick);
    awaitTick();
    for (const { work } of due) work();
  };
  return {
    ...clock,
    after(ms, work) {
      // Do not count the current tick, because most of its time may have passed.
      const at = tick + 1 + Math.ceil(ms / tickMs);
      const timer = { work };
      const timers = dueAt.getOrInsertComputed(at, () => new Set());
      timers.add(timer);
      if (!ticking) awaitTick();
      return () => {
        timers.delete(timer);
        if (timers.size === 0 && dueAt.get(at) === timers) dueAt.delete(at);
      };
    },
  };
}

/** The tick of {@link unstalledClock}. */
const TICK_MS = 25;

/** The clock for timeouts of peers and clients: a {@link tickClock} that all of them share. */
export const unstalledClock = tickClock(TICK_MS);
