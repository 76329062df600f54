import { monthOf } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, query, rows, sqlState } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

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

const CHECK_VIOLATION = "23514";

/** Returns whether a write failed because a month has no partition. */
export function isPartitionMissing(error: unknown): boolean {
  return sqlState(error) === CHECK_VIOLATION;
}

export async function missingPartitions(database: Database, wanted: Partition[]): Promise<Partition[]> {
  const found = await query<{ name: string }>(database, "select_partitions")`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'audit.audit_events'::regclass`;
  const present = new Set(found.map(({ name }) => name));
  return wanted.filter(({ name }) => !present.has(name));
}

/**
 * Takes a lock until the transaction ends, so that only one transaction at a time changes the event tables.
 * `audit.make_partition` takes the same lock. Without the lock, PostgreSQL would reject concurrent changes of one
 * catalog entry, for example a grant while a partition is created.
 */
export async function lockPartitions(tx: Orm): Promise<void> {
  await rows(tx, sql`select pg_advisory_xact_lock(hashtextextended('partitions of audit_events', 0))`);
}

/**
 * Creates a partition through a function with the rights of the log's owner, because the caller lacks these rights.
 * Returns false if the partition already exists, for example because another replica created it.
 */
export async function makePartition(orm: Orm, { month }: Partition): Promise<boolean> {
  const [answer] = await rows<{ made: boolean }>(orm, sql`select audit.make_partition(${month}) as made`);
  return answer?.made === true;
}
