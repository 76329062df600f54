import { type HexHash, monthEnd, monthStart } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, query, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { lockPartitions, type Partition } from "../../events/partitions-sql.ts";
import { LEAF_NUMBER_END, type LeafRow, selectLeaves } from "../root/tree-sql.ts";
import type { StoredRow } from "../seal/entries.ts";
import { parseSnapshot } from "../seal/snapshot.ts";
import { storedColumns } from "../seal/unsealed-sql.ts";

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

/** Returns the snapshot of the transactions that have ended, and the time by the clock of the database. */
export async function selectNow(database: Database): Promise<{ snapshot: string; ms: number }> {
  const [found] = await query<{ snapshot: string; ms: string }>(database, "select_now")`
    select pg_current_snapshot()::text as snapshot,
      floor(extract(epoch from clock_timestamp()) * 1000)::text as ms`;
  return { snapshot: found?.snapshot ?? "", ms: Number(found?.ms) };
}

/** Returns the position of the last declaration of a month in each chain, by the chain's id. */
export async function selectDeclared(database: Database, month: string): Promise<Map<number, number>> {
  const found = await query<{ chain_id: number; position: number }>(database, "select_declared")`
    select chain_id, max(position) as position from audit.declarations where month = ${month} group by chain_id`;
  return new Map(found.map(({ chain_id, position }) => [Number(chain_id), Number(position)]));
}

/** An event that lacks the entry of its intent or outcome in the log of an owner. */
interface UnsealedEvent {
  id: string;
  owner: string;
}

/**
 * Returns an event of a partition that lacks an entry in a log that it belongs to; null if there is none. Ignores
 * events with an outcome after the snapshot `asOf`, with which {@link dropPartition} does not drop the month.
 */
export async function selectUnsealedEvent(
  database: Database,
  partition: string,
  asOf: string,
): Promise<UnsealedEvent | null> {
  const [found] = await query<UnsealedEvent>(database, "select_unsealed_event")`
    select half.id, coalesce(half.owner, 'nobody') as owner
    from (
      select event.id, log.owner, part.is_outcome from audit.${sql.identifier(partition)} event,
        lateral (values ('organization:' || organization_id), ('user:' || user_id)) log(owner),
        (values (false), (true)) part(is_outcome)
      where (log.owner is not null or num_nonnulls(organization_id, user_id) = 0)
        and not (part.is_outcome and event.outcome = 'pending')
        and pg_visible_in_snapshot(event.outcome_xid, ${asOf}::text::pg_snapshot) is not false
    ) half
    where not exists (
      select from audit.entries entry join audit.chains chain on chain.id = entry.chain_id
      where entry.event_id = half.id and entry.is_outcome = half.is_outcome and chain.owner = half.owner)
    limit 1`;
  return found ?? null;
}

/** Returns the last leaf of the newest tree that was sealed before a time; null if there is none. */
export async function selectLeafBefore(database: Database, time: string): Promise<LeafRow | null> {
  const [found] = await database.run("select_leaf_before", (orm) =>
    selectLeaves(
      orm,
      sql`number = (select number from audit.leaves where sealed_at < ${time}::text::timestamptz
        and number > (select coalesce(max(before), 0) from audit.trees) and number < ${LEAF_NUMBER_END}
        order by sealed_at desc, number desc limit 1)`,
    ),
  );
  return found ?? null;
}

export async function insertContents(
  database: Database,
  contents: readonly { chain_id: number; position: number; content: string }[],
): Promise<void> {
  if (contents.length === 0) return;
  await query(database, "insert_dropped_contents")`
    insert into audit.dropped_contents (chain_id, position, content)
      select chain_id, position, decode(content, 'hex')
      from json_to_recordset(${JSON.stringify(contents)}::text::json)
        as given(chain_id bigint, position bigint, content text)
      on conflict do nothing`;
}

/** The intent or the outcome of an event, at its position in a chain. */
export interface SealedHalf extends StoredRow {
  chain_id: number;
  /** The owner of the chain, or null if `audit.chains` has no row of the chain. */
  owner: string | null;
  position: number;
  is_outcome: boolean;
  chain: HexHash;
  /** The running hash of the entry before. */
  previous: HexHash | null;
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
      encode(entry.chain, 'hex') as chain,
      encode(coalesce(${before(sql`audit.entries`)}, ${before(sql`audit.declarations`)}), 'hex') as previous
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
