import { FormatRegistry } from "@sinclair/typebox";

/** The syntax of RFC 3339. Temporal checks whether the day and the offset exist. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

/** Reads an RFC 3339 time; returns null for any other text. */
export function parseTime(text: string): Temporal.Instant | null {
  if (!RFC_3339.test(text)) return null;
  try {
    return Temporal.Instant.from(text);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The `format` of texts that {@link parseTime} reads. */
export const RFC_3339_TIME = "rfc-3339-time";

FormatRegistry.Set(RFC_3339_TIME, (text) => parseTime(text) !== null);
