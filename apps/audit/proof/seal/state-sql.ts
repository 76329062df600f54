import { type Database, type Orm, query, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { bigint } from "../../bigint-sql.ts";
import { LEAF_COLUMNS, type LeafRow, NEWEST_LEAF } from "../root/tree-sql.ts";

/** The start of a tree of the log: its name, its time, and the number of leaves of all trees before it. */
export interface TreeStart {
  origin: string;
  before: number;
  started_at: string;
}

/** The state that the sealers of all replicas share. */
export interface SealerState {
  /** Number of passes that wrote something. */
  passes: number;
  holder: string | null;
  /** The time since the last pass, of any replica, that wrote something. */
  idle_ms: number;
  /** A `pg_snapshot`. All events that are visible in the snapshot have entries. */
  sealed_to: string;
  now: string;
  /** The newest signed root of the tree, as a note; null while no key signs it. */
  note: string | null;
  /** The trees of the log, the oldest first; the last one grows. Empty before the first pass. */
  trees: readonly TreeStart[];
  /** The newest leaf, or null before the first. */
  leaf: LeafRow | null;
  /** Whether stored nodes claim the next leaf's number although no pass wrote them. */
  has_added_nodes: boolean;
  /** Owners whose chains are left out, in random order, so that no job begins with the same ones. */
  altered: readonly string[];
}

export async function selectState(orm: Orm): Promise<SealerState> {
  const [found] = await rows<SealerState>(
    orm,
    sql`select passes, holder, sealed_to::text, pg_current_snapshot()::text as now, note,
        (extract(epoch from clock_timestamp() - passed_at) * 1000)::float8 as idle_ms,
        (select coalesce(json_agg(owner order by random()), '[]') from audit.altered_chains) as altered,
        (select coalesce(json_agg(json_build_object('origin', origin, 'before', before, 'started_at', started_at)
          order by before), '[]') from audit.trees) as trees,
        (select row_to_json(newest) from (
          select ${LEAF_COLUMNS} from audit.leaves where number = ${NEWEST_LEAF}) newest) as leaf,
        exists (select from audit.head_map
          where version = coalesce(${NEWEST_LEAF}, 0) + 1) as has_added_nodes
      from audit.sealer`,
  );
  if (found === undefined) throw new Error("The sealer's row is gone from audit.sealer.");
  return found;
}

/**
 * Stores the signed root that ends with a leaf. Returns false, and stores nothing, if another pass was written after
 * `passes`, or if the database does not have the leaf, because a failover lost it.
 */
export async function storeNote(
  database: Database,
  passes: number,
  note: string,
  { number, sealed_at, map }: LeafRow,
): Promise<boolean> {
  const stored = await query(database, "store_note")`
    update audit.sealer set note = ${note} where passes = ${passes} and exists (
      select from audit.leaves where number = ${bigint(number)} and map = decode(${map}, 'hex')
        and sealed_at = ${new Date(sealed_at).toISOString()}::text::timestamptz)
    returning passes`;
  return stored.length > 0;
}

/** Stores a signed root in the transaction that writes its pass. */
export async function storeNoteWithin(tx: Orm, note: string): Promise<boolean> {
  await rows(tx, sql`update audit.sealer set note = ${note}`);
  return true;
}

/** Changes the reason for which a chain is left out. Returns whether it had another one. */
export async function changeReason(database: Database, owner: string, reason: string): Promise<boolean> {
  // the service's role has no right to update the table
  const changed = await query(database, "change_altered_chain")`
    with gone as (
      delete from audit.altered_chains where owner = ${owner} and reason <> ${reason} returning owner, found_at
    )
    insert into audit.altered_chains (owner, found_at, reason) select owner, found_at, ${reason} from gone
    returning owner`;
  return changed.length > 0;
}

/** Records that a chain is left out. Keeps the first reason. */
export async function insertAltered(database: Database, owner: string, reason: string): Promise<void> {
  await query(database, "insert_altered_chain")`
    insert into audit.altered_chains (owner, reason) values (${owner}, ${reason}) on conflict do nothing`;
}
