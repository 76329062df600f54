import { monthOf } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, query, rows, sqlState } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

const MONTHS_AHEAD = 2;
const MONTHS_BEHIND = 1;

/** A partition of `audit.audit_events`: one month in UTC. */
export interface Partition {
  /** The name of the table, such as `audit_events_2026_01`. */
  name: string;
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

export function isPartitionMissing(error: unknown): boolean {
  return sqlState(error) === CHECK_VIOLATION;
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
 * Creates the partitions that are missing at `nowMs` and returns their names. Uses a function with the rights of the
 * log's owner, because the service lacks these rights. Several replicas may call this function at once.
 */
export async function makePartitions(database: Database, nowMs: number): Promise<string[]> {
  const wanted = JSON.stringify(wantedPartitions(nowMs));
  const made = await query<{ name: string }>(database, "create_partitions")`
    select name from json_to_recordset(${wanted}::text::json) as wanted(name text, month text)
    where case when to_regclass('audit.' || name) is null then audit.make_partition(month) else false end`;
  return made.map(({ name }) => name);
}
