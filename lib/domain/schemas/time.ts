import { FormatRegistry } from "@sinclair/typebox";

/** The syntax of RFC 3339. Temporal checks whether the day and the offset exist. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

/** The first and the last millisecond of the years that PostgreSQL reads in RFC 3339. */
const FIRST_MS = Date.parse("0001-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** The rule for texts that {@link parseTime} reads. */
export const TIME_RULE =
  "must be an RFC 3339 time of the years 1 to 9999 in UTC, such as 2026-01-31T12:00:00Z";

/** Reads an RFC 3339 time of the years 1 to 9999 in UTC; returns null for any other text (ER-25). */
export function parseTime(text: string): Temporal.Instant | null {
  if (!RFC_3339.test(text)) return null;
  try {
    const instant = Temporal.Instant.from(text);
    const { epochMilliseconds } = instant;
    return epochMilliseconds >= FIRST_MS && epochMilliseconds <= LAST_MS ? instant : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The `format` of texts that {@link parseTime} reads. */
export const RFC_3339_TIME = "rfc-3339-time";

FormatRegistry.Set(RFC_3339_TIME, (text) => parseTime(text) !== null);
