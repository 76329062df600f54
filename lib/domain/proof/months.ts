/** A month in UTC: `2026-01`. */
export const MONTH_PATTERN = "^20[0-9]{2}-(0[1-9]|1[0-2])$";

/** A time in the form that the log uses: RFC 3339, UTC, milliseconds. */
export const TIME_PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$";

const MONTH_LENGTH = "2026-01".length;

/** Returns the UTC month of a time, plus `monthsAfter` months. */
export function monthOf(timeMs: number, monthsAfter = 0): string {
  const time = new Date(timeMs);
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + monthsAfter))
    .toISOString()
    .slice(0, MONTH_LENGTH);
}

/** Returns the UTC month of a time in the log's form. */
export function monthOfTime(time: string): string {
  return time.slice(0, MONTH_LENGTH);
}

/** Returns the start of a month that {@link MONTH_PATTERN} accepts, in milliseconds. */
export function monthStart(month: string): number {
  return Date.parse(`${month}-01T00:00:00.000Z`);
}

/** Returns the start of the next month, in milliseconds. */
export function monthEnd(month: string): number {
  return monthStart(monthOf(monthStart(month), 1));
}

const TIME = new RegExp(TIME_PATTERN);

/**
 * Parses a time in the log's form. Returns epoch milliseconds, or null for any other text, such as the 30th of
 * February.
 */
export function proofTime(text: string): number | null {
  if (!TIME.test(text)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || new Date(ms).toISOString() !== text ? null : ms;
}

/**
 * The time before the end of a month up to which a sealed position belongs to that month or an earlier one. The
 * service refuses an intent that is a day ahead of its clock; the second day allows for clocks.
 */
export const MONTH_MARGIN_MS = 48 * 60 * 60 * 1000;
