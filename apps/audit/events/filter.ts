import { INTENT_SKEW_MS_MAX } from "@ostiary/lib/contracts/audit";
import { decodeTime, encodeTime, MAX_ULID } from "ulid";
import type { EventLog } from "./event.ts";

/** The filters that compare one field, by their parameter's name. */
export const exactFilters = [
  "actor_member_id",
  "service",
  "method",
  "route",
  "outcome",
  "request_id",
  "created_id",
] as const;
export type ExactFilter = (typeof exactFilters)[number];

/** Which events of a log are wanted: all conditions hold at once. */
export interface EventFilter {
  log: EventLog;
  exact: Partial<Record<ExactFilter, string>>;
  params: Map<string, string>;
  /** `occurred_after`, inclusive. */
  from: Temporal.Instant | null;
  /** `occurred_before`, exclusive. */
  before: Temporal.Instant | null;
}

/** The part of the log that can hold wanted events, by both of its orders. */
export interface EventBounds {
  /** RFC 3339 with milliseconds; inclusive and exclusive. */
  occurred_from: string;
  occurred_before: string;
  /** ULIDs; inclusive and exclusive. */
  id_from: string;
  id_before: string;
}

/**
 * An event's id tells when it was written, which is within the intent's tolerance of when it occurred; an hour
 * more for what happens between the check and the write.
 */
const SKEW_MS = INTENT_SKEW_MS_MAX + 60 * 60 * 1000;
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const RANDOM_MIN = "0".repeat(16);

/**
 * The bounds of a filter below `cursor`; null when nothing can lie within. Bounds on time follow from bounds on
 * ids and the other way round, so that a page of any depth touches the months it can be in, and a filter on time
 * begins its walk at the right place.
 */
export function eventBounds(filter: EventFilter, cursor: string | null): EventBounds | null {
  const from_ms = filter.from === null ? 0 : clamp(ceilMs(filter.from));
  const before_ms = filter.before === null ? LAST_MS : clamp(ceilMs(filter.before));
  if (from_ms >= before_ms) return null;
  const cursorBefore_ms = cursor === null ? LAST_MS : clamp(decodeTime(cursor) + SKEW_MS + 1);
  const latestId = filter.before === null ? MAX_ULID : firstId(clamp(before_ms + SKEW_MS));
  return {
    occurred_from: new Date(from_ms).toISOString(),
    occurred_before: new Date(Math.min(before_ms, cursorBefore_ms)).toISOString(),
    id_from: firstId(clamp(from_ms - SKEW_MS)),
    id_before: cursor !== null && cursor < latestId ? cursor : latestId,
  };
}

/** Events have whole milliseconds, so a bound between two of them means the later one. */
function ceilMs(instant: Temporal.Instant): number {
  return instant.round({ smallestUnit: "millisecond", roundingMode: "ceil" }).epochMilliseconds;
}

function clamp(ms: number): number {
  return Math.min(Math.max(ms, 0), LAST_MS);
}

function firstId(ms: number): string {
  return encodeTime(ms) + RANDOM_MIN;
}
