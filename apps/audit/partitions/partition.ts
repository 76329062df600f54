import { monthOf } from "@ostiary/lib/domain/proof";

/** Number of months after the current one whose partitions must exist. */
const MONTHS_AHEAD = 2;
/** Number of months before the current one whose partitions must exist. */
const MONTHS_BEHIND = 1;

/** A partition of `audit.audit_events`: one month in UTC. */
export interface Partition {
  /** The name of the table, such as `audit_events_2026_01`. */
  name: string;
  /** The month, such as `2026-01`. */
  month: string;
}

/**
 * Returns the partitions that must exist at `nowMs`: from last month to two months ahead (AU-7). An intent's time
 * is within a day of the clock, so its partition exists even if creation fails for two months.
 */
export function wantedPartitions(nowMs: number): Partition[] {
  return Array.from({ length: MONTHS_BEHIND + 1 + MONTHS_AHEAD }, (_, index) => {
    const month = monthOf(nowMs, index - MONTHS_BEHIND);
    return { name: `audit_events_${month.replace("-", "_")}`, month };
  });
}
