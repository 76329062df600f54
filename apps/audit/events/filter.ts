import { INTENT_SKEW_MS_MAX } from "@ostiary/lib/contracts/audit";
import { decodeTime, encodeTime, MAX_ULID } from "ulid";
import type { EventLog } from "./event.ts";

/** The filters that compare one field. Each has the name of its query parameter. */
export const exactFilters = [
  "actor_member_id",
  "service",
  "method",
  "route",
  "outcome",
  "request_id",
  "created_id",
] as const;
type ExactFilter = (typeof exactFilters)[number];

/** The conditions of a read. An event must meet all of them. */
export interface EventFilter {
  log: EventLog;
  exact: Partial<Record<ExactFilter, string>>;
  params: Map<string, string>;
  /** `occurred_after`, inclusive. */
  from: Temporal.Instant | null;
  /** `occurred_before`, exclusive. */
  before: Temporal.Instant | null;
}

/** The part of the log that can contain matching events, by time and by id. */
export interface EventBounds {
  /** The earliest time, inclusive, in RFC 3339 with milliseconds. */
  occurred_from: string;
  /** The end of the time range, exclusive, in RFC 3339 with milliseconds. */
  occurred_before: string;
  /** The smallest ULID, inclusive. */
  idFrom: string;
  /** The end of the range of ULIDs, exclusive. */
  idBefore: string;
}

/**
 * The largest difference between an event's `occurred_at` and the time in its id: the tolerance for the time
 * of an intent, plus an hour to write the intent.
 */
const SKEW_MS = INTENT_SKEW_MS_MAX + 60 * 60 * 1000;
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const RANDOM_MIN = "0".repeat(16);

/**
 * Returns the bounds of the page that follows `cursor`, or null if no event can match. An id contains the time of its
 * event, so times limit ids, and the cursor limits times. A page reads only the partitions of its own months.
 */
export function eventBounds(filter: EventFilter, cursor: string | null): EventBounds | null {
  const fromMs = filter.from === null ? 0 : clamp(ceilMs(filter.from));
  const beforeMs = filter.before === null ? LAST_MS : clamp(ceilMs(filter.before));
  if (fromMs >= beforeMs) return null;
  const cursorBeforeMs = cursor === null ? LAST_MS : clamp(decodeTime(cursor) + SKEW_MS + 1);
  const latestId = filter.before === null ? MAX_ULID : firstId(clamp(beforeMs + SKEW_MS));
  return {
    occurred_from: new Date(fromMs).toISOString(),
    occurred_before: new Date(Math.min(beforeMs, cursorBeforeMs)).toISOString(),
    idFrom: firstId(clamp(fromMs - SKEW_MS)),
    idBefore: cursor !== null && cursor < latestId ? cursor : latestId,
  };
}

/** Rounds up to whole milliseconds, the resolution of events. */
function ceilMs(instant: Temporal.Instant): number {
  return instant.round({ smallestUnit: "millisecond", roundingMode: "ceil" }).epochMilliseconds;
}

function clamp(ms: number): number {
  return Math.min(Math.max(ms, 0), LAST_MS);
}

function firstId(ms: number): string {
  return encodeTime(ms) + RANDOM_MIN;
}
