/** The kind of calendar period (UTC) after which a quota starts again. */
export type Period = "day" | "month";

export interface CalendarPeriod {
  /** The name of the period: `2026-11-23` or `2026-11`. */
  readonly id: string;
  readonly startsMs: number;
  readonly endsMs: number;
}

const PERIOD_ID = /^20\d{2}-\d{2}(?:-\d{2})?$/;

/** Returns the period with this id, or null if the id is not a day or a month. */
export function periodNamed(id: string): CalendarPeriod | null {
  if (!PERIOD_ID.test(id)) return null;
  const startsMs = Date.parse(id);
  if (Number.isNaN(startsMs)) return null;
  const named = periodAt(id.length === "2026-11".length ? "month" : "day", startsMs);
  return named.id === id ? named : null;
}

/** Returns the period that contains `nowMs`, epoch milliseconds (GW-182). */
export function periodAt(period: Period, nowMs: number): CalendarPeriod {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const iso = now.toISOString();
  return period === "day"
    ? { id: iso.slice(0, 10), startsMs: Date.UTC(year, month, day), endsMs: Date.UTC(year, month, day + 1) }
    : { id: iso.slice(0, 7), startsMs: Date.UTC(year, month), endsMs: Date.UTC(year, month + 1) };
}
