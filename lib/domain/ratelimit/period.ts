/** A calendar period in UTC that a quota counts in. */
export type Period = "day" | "month";

/** One calendar day or month. */
export interface CalendarPeriod {
  /** Its name: `2026-11-23` or `2026-11`. */
  readonly id: string;
  readonly starts_ms: number;
  /** The start of the next one. */
  readonly ends_ms: number;
}

/** Returns the period that contains `now_ms`, epoch milliseconds (GW-182). */
export function periodAt(period: Period, now_ms: number): CalendarPeriod {
  const now = new Date(now_ms);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const iso = now.toISOString();
  return period === "day"
    ? { id: iso.slice(0, 10), starts_ms: Date.UTC(year, month, day), ends_ms: Date.UTC(year, month, day + 1) }
    : { id: iso.slice(0, 7), starts_ms: Date.UTC(year, month), ends_ms: Date.UTC(year, month + 1) };
}
