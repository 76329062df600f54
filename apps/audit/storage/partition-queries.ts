import { type Database, type Orm, rows, sqlState } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { type Partition, wantedPartitions } from "./partitions.ts";

const CHECK_VIOLATION = "23514";

/** Makes the partitions that are missing at `now_ms` and returns their names. Replicas may run it together. */
export async function keepPartitions(database: Database, now_ms: number): Promise<string[]> {
  const wanted = wantedPartitions(now_ms);
  const missing = await database.run("select_partitions", (orm) => missingOf(orm, wanted));
  if (missing.length === 0) return [];
  return database.transaction("create_partitions", async (tx) => {
    await rows(tx, sql`select pg_advisory_xact_lock(hashtextextended('partitions of audit_events', 0))`);
    const stillMissing = await missingOf(tx, wanted);
    for (const partition of stillMissing) await create(tx, partition);
    return stillMissing.map(({ name }) => name);
  });
}

/** Whether a write failed because a month has no partition. */
export function isPartitionMissing(error: unknown): boolean {
  return sqlState(error) === CHECK_VIOLATION;
}

async function missingOf(orm: Orm, wanted: Partition[]): Promise<Partition[]> {
  const found = await rows<{ name: string }>(
    orm,
    sql`select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'audit.audit_events'::regclass`,
  );
  const present = new Set(found.map(({ name }) => name));
  return wanted.filter(({ name }) => !present.has(name));
}

/** Made aside and attached: unlike `create table ... partition of`, that never waits for or stops a writer. */
async function create(tx: Orm, { name, from, to }: Partition): Promise<void> {
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
