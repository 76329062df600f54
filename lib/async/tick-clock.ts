import { type Clock, systemClock } from "./clock.ts";

/**
 * A clock whose timers count turns of the event loop that are `tick_ms` apart, and not the time itself: while the
 * process is too busy to read what has long arrived, they stand still. Who waits for a server with such a timer
 * does not take a healthy one for silent. One timer of `clock` serves all that wait, and none runs while nobody
 * does; a timer is late by two ticks at most.
 */
export function tickClock(tick_ms: number, clock: Clock = systemClock): Clock {
  const dueAt = new Map<number, Set<{ work: () => void }>>();
  let tick = 0;
  let ticking = false;
  const awaitTick = () => {
    ticking = dueAt.size > 0;
    if (ticking) clock.after(tick_ms, onTick);
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
      // the tick under way does not count: it may be all but over
      const at = tick + 1 + Math.ceil(ms / tick_ms);
      const timer = { work };
      const timers = dueAt.get(at) ?? new Set();
      if (timers.size === 0) dueAt.set(at, timers);
      timers.add(timer);
      if (!ticking) awaitTick();
      return () => {
        timers.delete(timer);
        if (timers.size === 0 && dueAt.get(at) === timers) dueAt.delete(at);
      };
    },
  };
}
