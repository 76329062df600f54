import { type ChainRange, monthEnd, monthStart } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, query, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import type { Partition } from "../partitions/partition.ts";
import { lockPartitions } from "../partitions/sql.ts";
import type { StoredRow } from "../sealing/entries.ts";
import { parseSnapshot } from "../sealing/snapshot.ts";
import { storedColumns } from "../sealing/unsealed-sql.ts";

/** A partition of the log. `bound` is the SQL clause that limits the partition to a time range. */
export interface PartitionRow {
  name: string;
  bound: string;
}

/**
 * Returns the partitions of the log. Leaves out partitions that another job is dropping, because they have no
 * bound.
 */
export function selectPartitions(database: Database): Promise<PartitionRow[]> {
  return query<PartitionRow>(database, "select_partitions")`
    select * from (
        select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'audit.audit_events'::regclass offset 0) found
      where bound is not null order by name`;
}

/** Returns the current snapshot of the database, as a `pg_snapshot`. */
export async function selectNow(database: Database): Promise<string> {
  const [found] = await query<{ now: string }>(database, "select_now")`
    select pg_current_snapshot()::text as now`;
  return found?.now ?? "";
}

/** Returns the database's current time, in milliseconds since 1970. */
export async function selectClock(database: Database): Promise<number> {
  const [found] = await query<{ ms: string }>(database, "select_clock")`
    select floor(extract(epoch from clock_timestamp()) * 1000)::text as ms`;
  return Number(found?.ms);
}

/** Returns the newest declared month, or null if no month is declared. */
export async function selectLastDeclared(database: Database): Promise<string | null> {
  const [found] = await query<{ month: string | null }>(database, "select_last_declared")`
    select max(month) as month from audit.retentions`;
  return found?.month ?? null;
}

/** A declaration of a month in a chain. */
interface DeclaredRow {
  chain_id: number;
  ranges: ChainRange[];
}

export function selectDeclared(database: Database, month: string): Promise<DeclaredRow[]> {
  return query<DeclaredRow>(database, "select_declared")`
    select chain_id, ranges from audit.retentions where month = ${month}`;
}

/** A declared range of positions whose hashes are missing or differ from the declaration. */
interface LostPlace {
  owner: string | null;
  from: number;
  to: number;
}

/** Returns a range that is declared for a month but missing or altered in its chain; null if there is none. */
export async function selectLostPlaces(database: Database, month: string): Promise<LostPlace | null> {
  const [lost] = await query<LostPlace>(database, "select_lost_places")`
    select chain.owner, (range->>'from')::integer as from, (range->>'to')::integer as to
      from audit.retentions declared
        cross join json_array_elements(declared.ranges) range
        left join audit.chains chain on chain.id = declared.chain_id
      where declared.month = ${month} and (
        (select count(*) from audit.entries entry where entry.chain_id = declared.chain_id
          and entry.position between (range->>'from')::bigint and (range->>'to')::bigint)
        <> (range->>'to')::bigint - (range->>'from')::bigint + 1
        or (select encode(entry.chain, 'hex') from audit.entries entry where entry.chain_id = declared.chain_id
          and entry.position = (range->>'to')::bigint) is distinct from range->>'chain')
      limit 1`;
  return lost ?? null;
}

/** The intent or the outcome of an event, at its position in a chain. */
export interface SealedHalf extends StoredRow {
  chain_id: number;
  /** The owner of the chain, or null if `audit.chains` has no row of the chain. */
  owner: string | null;
  position: number;
  is_outcome: boolean;
  /** The running hash, in hexadecimal like `previous` and `own_salt`. */
  chain: string;
  previous: string | null;
  own_salt: string | null;
}

/** Streams the sealed intents and outcomes of a partition, chain by chain in the order of their positions. */
export function streamSealedHalves(
  database: Database,
  partition: string,
  batchRows: number,
): AsyncIterable<SealedHalf[]> {
  const before = (table: SQL) => sql`(select before.chain from ${table} before
    where before.chain_id = entry.chain_id and before.position = entry.position - 1)`;
  const statement = sql`select ${storedColumns}, entry.chain_id, chain.owner, entry.position, entry.is_outcome,
      encode(entry.chain, 'hex') as chain, encode(entry.salt, 'hex') as own_salt,
      encode(coalesce(${before(sql`audit.entries`)}, ${before(sql`audit.retentions`)}), 'hex') as previous
    from audit.${sql.identifier(partition)} event
      join audit.entries entry on entry.event_id = event.id
      left join audit.chains chain on chain.id = entry.chain_id
    order by entry.chain_id, entry.position`;
  return database.stream<SealedHalf>("read_sealed_month", statement, batchRows);
}

/** Longest wait for the lock on a partition, during which writers and readers of the log wait too. */
const LOCK_MS = 200;

/**
 * Drops a partition unless an event of its month changed after the snapshot `asOf`; returns whether it was dropped.
 * Rejects if the partition stays in use for {@link LOCK_MS}.
 */
export async function dropPartition(tx: Orm, { name, month }: Partition, asOf: string): Promise<boolean> {
  const partition = sql`audit.${sql.identifier(name)}`;
  await rows(tx, sql.raw(`set local lock_timeout = ${LOCK_MS}`));
  await rows(tx, sql`lock table only audit.audit_events, only ${partition} in access exclusive mode`);
  const from = sql`${String(parseSnapshot(asOf).running[0] ?? parseSnapshot(asOf).xmax)}::text::xid8`;
  const isLater = (xid: SQL) =>
    sql`${xid} >= ${from} and not pg_visible_in_snapshot(${xid}, ${asOf}::text::pg_snapshot)`;
  const time = (ms: number) => sql`${new Date(ms).toISOString()}::text::timestamptz`;
  const later = await rows(
    tx,
    sql`select 1 from ${partition} event where ${isLater(sql`event.outcome_xid`)}
      union all
      select 1 from audit.request_ids known where ${isLater(sql`known.xid`)}
        and known.occurred_at >= ${time(monthStart(month))} and known.occurred_at < ${time(monthEnd(month))}
      limit 1`,
  );
  if (later.length > 0) return false;
  await lockPartitions(tx);
  await rows(tx, sql`drop table ${partition}`);
  return true;
}
