import { monthEnd, monthOf, monthStart } from "@ostiary/lib/domain/proof";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { Partition } from "../../partitions/partition.ts";
import type { PartitionRow } from "./sql.ts";

/**
 * The wait after the end of a month before the month can be dropped. An intent's time may differ from the clock by
 * a day, so events can arrive after the end.
 */
const SETTLED_MS = 48 * 60 * 60 * 1000;

/**
 * Refuses to drop the months before `before` while events of the last of them may still arrive (AU-74).
 *
 * @throws StartRefused if the last month ended less than two days ago
 */
export function checkSettled(before: string, nowMs: number): void {
  if (monthStart(before) + SETTLED_MS <= nowMs) return;
  throw new StartRefused(
    `The month before ${before} ended less than two days ago, so its events may still arrive. Choose an earlier month.`,
  );
}

const BOUND = /^FOR VALUES FROM \('(\d{4}-\d{2})-01 00:00:00\+00'\) TO \('(\d{4}-\d{2})-01 00:00:00\+00'\)$/;

/**
 * Returns the partitions of the months before `before`, the oldest first.
 *
 * @throws StartRefused if a partition is not exactly one month
 */
export function monthsBefore(partitions: readonly PartitionRow[], before: string): Partition[] {
  const months = partitions.flatMap(({ name, bound }) => {
    const [, month, next] = BOUND.exec(bound) ?? [];
    const isMonth = month !== undefined && next === monthOf(monthEnd(month));
    if (!isMonth) {
      throw new StartRefused(
        `The partition audit.${name} (${bound}) is not one month in UTC. Retention drops whole months only: split the partition first.`,
      );
    }
    return month < before ? [{ name, month }] : [];
  });
  return months.toSorted((a, b) => (a.month < b.month ? -1 : 1));
}
