import { type Orm, rows, sqlState } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import type { Partition } from "./partition.ts";

const CHECK_VIOLATION = "23514";

/** Whether a write failed because a month has no partition. */
export function isPartitionMissing(error: unknown): boolean {
  return sqlState(error) === CHECK_VIOLATION;
}

/** Those of `wanted` that do not exist. */
export async function missingPartitions(orm: Orm, wanted: Partition[]): Promise<Partition[]> {
  const found = await rows<{ name: string }>(
    orm,
    sql`select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'audit.audit_events'::regclass`,
  );
  const present = new Set(found.map(({ name }) => name));
  return wanted.filter(({ name }) => !present.has(name));
}

/** One replica at a time makes partitions. */
export async function lockPartitions(tx: Orm): Promise<void> {
  await rows(tx, sql`select pg_advisory_xact_lock(hashtextextended('partitions of audit_events', 0))`);
}

/** Made aside and attached: unlike `create table ... partition of`, that never waits for or stops a writer. */
export async function createPartition(tx: Orm, { name, from, to }: Partition): Promise<void> {
  const table = sql`audit.${sql.identifier(name)}`;
  await rows(tx, sql`create table ${table} (like audit.audit_events including all)`);
  await rows(
    tx,
    sql`alter table audit.audit_events attach partition ${table}
        for values from (${sql.raw(`'${from}'`)}) to (${sql.raw(`'${to}'`)})`,
  );
  await rows(
    tx,
    sql`create trigger no_truncate before truncate on ${table}
        for each statement execute function audit.refuse_change()`,
  );
}
