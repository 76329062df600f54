import { FormatRegistry } from "@sinclair/typebox";

/** RFC 3339's form; whether the day and the offset exist is Temporal's to say. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

/** Reads an RFC 3339 time; null when it is none. */
export function parseTime(text: string): Temporal.Instant | null {
  if (!RFC_3339.test(text)) return null;
  try {
    return Temporal.Instant.from(text);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** `format` of a text that {@link parseTime} reads. */
export const RFC_3339_TIME = "rfc-3339-time";

FormatRegistry.Set(RFC_3339_TIME, (text) => parseTime(text) !== null);
