/** A clock that moves when told to. */
export interface ManualClock {
  /** Milliseconds since the epoch. */
  now(): number;
  date(): Date;
  advance(milliseconds: number): void;
  set(time: number | string | Date): void;
}

const DEFAULT_START = "2026-01-01T00:00:00.000Z";

export function clock(start: number | string | Date = DEFAULT_START): ManualClock {
  let now = new Date(start).getTime();
  return {
    now: () => now,
    date: () => new Date(now),
    advance(milliseconds) {
      now += milliseconds;
    },
    set(time) {
      now = new Date(time).getTime();
    },
  };
}
