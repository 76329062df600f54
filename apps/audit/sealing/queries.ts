import type { Checkpoint, Inclusion, Retention } from "@ostiary/lib/domain/proof";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import type { TreeWrite } from "../checkpoint-tree/tree.ts";
import { CHECKPOINT_COLUMNS, type CheckpointRow, checkpointOf } from "../checkpoints/queries.ts";
import { columns } from "../events/queries.ts";
import type { NodeWrite } from "../head-map/head-map.ts";
import { type AlteredChain, IS_SET_ASIDE, SET_ASIDE, type SetAside } from "./altered-queries.ts";
import type { UnsealedRow } from "./entries.ts";
import { type SealWindow, snapshotText } from "./snapshot.ts";

/** Progress of a walk along the events of one kind of owner. */
export interface OlderCursor {
  kind: "organization" | "user";
  owner: string;
  id: string;
}

/** The state that the sealers of all replicas share. */
export interface SealerState {
  /** Number of passes that wrote something. */
  passes: number;
  holder: string | null;
  /** Time since the last write of any replica. */
  idle_ms: number;
  /** A `pg_snapshot`; all events that it sees have their entries. */
  sealed_to: string;
  /** Null once all events from before the proof was introduced are sealed. */
  older: OlderCursor | null;
  /** The newest checkpoint, or null before the first. */
  checkpoint: Checkpoint | null;
  now: string;
  /** Chains that are not sealed any further. */
  set_aside: readonly SetAside[];
  /** A JWS of `sealed_to` and `older`, or null while no key signs them. */
  marks: string | null;
  /** Whether the marks were ever signed. */
  marks_signed: boolean;
  /** The number of leaves of the tree of checkpoints. */
  tree_size: number;
  /** The signed root of the tree, as a note; null while no key signs it. */
  note: string | null;
  /** Whether chains that are still sealed have their head in an older checkpoint alone, and not in the map. */
  has_unmapped: boolean;
}

type StateRow = Omit<SealerState, "older" | "checkpoint"> & {
  older_kind: OlderCursor["kind"] | null;
  older_owner: string;
  older_id: string;
  checkpoint: CheckpointRow | null;
};

/** Selects the chains that are not in the map of heads yet. */
const unmapped = sql`select known.owner from audit.chains known where known.inclusion is not null
  and not exists (select from audit.altered_chains aside where aside.owner = known.owner)`;

/** Returns at most `limit` owners whose chains are not in the map of heads yet. */
export async function selectUnmapped(database: Database, limit: number): Promise<string[]> {
  const found = await database.run("select_unmapped", (orm) =>
    rows<{ owner: string }>(orm, sql`${unmapped} order by known.id limit ${sql.raw(String(limit))}`),
  );
  return found.map(({ owner }) => owner);
}

export async function selectState(database: Database): Promise<SealerState> {
  const [found] = await database.run("select_sealer", (orm) =>
    rows<StateRow>(
      orm,
      sql`select passes, holder, sealed_to::text, pg_current_snapshot()::text as now,
          (extract(epoch from clock_timestamp() - passed_at) * 1000)::float8 as idle_ms,
          older_kind, older_owner, older_id, marks, marks_signed, note, ${SET_ASIDE} as set_aside,
          coalesce((select max(number) from audit.checkpoint_tree), 0) as tree_size,
          exists (${unmapped}) as has_unmapped,
          (select row_to_json(newest) from (
            select ${CHECKPOINT_COLUMNS} from audit.checkpoints order by number desc limit 1) newest) as checkpoint
        from audit.sealer`,
    ),
  );
  if (found === undefined) throw new Error("The sealer's row is gone from audit.sealer.");
  const { older_kind, older_owner, older_id, checkpoint, ...state } = found;
  return {
    ...state,
    older: older_kind === null ? null : { kind: older_kind, owner: older_owner, id: older_id },
    checkpoint: checkpoint === null ? null : checkpointOf(checkpoint),
  };
}

/** Returns the first transaction after `entries` intents, or outcomes, from `xid` on. */
export async function selectBound(database: Database, xid: bigint, entries: number): Promise<bigint | null> {
  const nth = (column: SQL, table: SQL) => sql`
    select ${column}::text as xid from ${table}
    where ${column} >= ${String(xid)}::text::xid8 order by ${column} offset ${sql.raw(String(entries))} limit 1`;
  const intents = nth(sql`xid`, sql`audit.request_ids`);
  const outcomes = nth(sql`outcome_xid`, sql`audit.audit_events`);
  const found = await database.run("select_seal_bound", (orm) =>
    rows<{ xid: string }>(orm, sql`(${intents}) union all (${outcomes})`),
  );
  const [least] = found.map((row) => BigInt(row.xid)).toSorted((a, b) => (a < b ? -1 : 1));
  return least ?? null;
}

/**
 * Whether the request id is claimed for the event. The service claims it in the statement that writes the
 * event.
 */
export const CLAIMED = sql`exists (select from audit.request_ids known
    where known.request_id = event.request_id and known.id = event.id)`;

/** The columns of an event that its entries need. */
export const storedColumns = sql`${columns},
  event.intent_xid::text as intent_xid, event.outcome_xid::text as outcome_xid,
  encode(event.intent_salt, 'hex') as intent_salt, encode(event.outcome_salt, 'hex') as outcome_salt,
  event.named_by_outcome, event.intent_member_id`;

const unsealedColumns = sql`${storedColumns}, ${CLAIMED} as claimed`;

/** Returns a condition: the transaction in `column` belongs to a window. */
function writtenIn({ late, from, before, now }: SealWindow, column: SQL): SQL {
  const xids = `{${late.join(",")}}`;
  return sql`(
    (${column} >= ${String(from)}::text::xid8 and ${column} < ${String(before)}::text::xid8
      or ${column} = any (${xids}::text::xid8[]))
    and pg_visible_in_snapshot(${column}, ${snapshotText(now)}::text::pg_snapshot))`;
}

/**
 * Returns a subquery of the events that the transactions of a window wrote: `event`, and `due` with the
 * halves. Intents are found by their request ids, outcomes by themselves. Each event is then looked up by its
 * key, whatever row count the planner expects.
 */
export function eventsOf(window: SealWindow): SQL {
  return sql`(
    select id, occurred_at, bool_or(is_intent) as is_intent, bool_or(not is_intent) as is_outcome
    from (
      select known.id, known.occurred_at, true as is_intent from audit.request_ids known
      where ${writtenIn(window, sql`known.xid`)}
      union all
      select event.id, event.occurred_at, false from audit.audit_events event
      where ${writtenIn(window, sql`event.outcome_xid`)}
    ) written
    group by id, occurred_at
  ) due cross join lateral (
    select * from audit.audit_events stored where stored.id = due.id and stored.occurred_at = due.occurred_at limit 1
  ) event`;
}

/** Returns the events that the transactions of a window wrote. */
export function selectWindow(database: Database, window: SealWindow): Promise<UnsealedRow[]> {
  return selectUnsealed(database, {
    from: eventsOf(window),
    intent: sql`due.is_intent`,
    outcome: sql`due.is_outcome`,
  });
}

/**
 * Returns at most `limit` events that lack an entry anywhere. It serves a database whose transactions are
 * counted anew, and marks that were moved.
 */
export function selectAnyUnsealed(database: Database, limit: number): Promise<UnsealedRow[]> {
  const intent = sql`(${CLAIMED} and ${hasNoEntry(false)})`;
  const outcome = sql`(event.outcome <> 'pending' and ${CLAIMED} and ${hasNoEntry(true)})`;
  const from = sql`audit.audit_events event where (${intent} or ${outcome}) and not (${IS_SET_ASIDE})
    limit ${sql.raw(String(limit))}`;
  return selectUnsealed(database, { from, intent, outcome });
}

/**
 * Returns a condition that leaves out sealed halves, since a restored database may reuse transaction numbers.
 */
function hasNoEntry(is_outcome: boolean, chain_id?: SQL): SQL {
  return sql`not exists (select from audit.entries entry
    where entry.event_id = event.id and entry.is_outcome = ${sql.raw(String(is_outcome))}
      ${chain_id === undefined ? sql`` : sql`and entry.chain_id = ${chain_id}`})`;
}

/**
 * Returns the events that the snapshot sees and the owner's chain lacks, in the order in which they were
 * written.
 */
export function selectUnsealedOf(
  database: Database,
  owner: string,
  sealed_to: string,
  limit: number,
): Promise<UnsealedRow[]> {
  const separator = owner.indexOf(":");
  const id = owner.slice(separator + 1);
  const isInLog =
    owner.slice(0, separator) === "organization"
      ? sql`event.organization_id = ${id}`
      : sql`event.user_id = ${id}`;
  const chain = sql`(select known.id from audit.chains known where known.owner = ${owner})`;
  const seen = (xid: SQL) =>
    sql`coalesce(pg_visible_in_snapshot(${xid}, ${sealed_to}::text::pg_snapshot), true)`;
  const intent = sql`(${seen(sql`event.intent_xid`)} and ${hasNoEntry(false, chain)})`;
  const outcome = sql`(event.outcome <> 'pending' and ${seen(sql`event.outcome_xid`)} and ${hasNoEntry(true, chain)})`;
  return database.run("select_unsealed_of", (orm) =>
    rows<UnsealedRow>(
      orm,
      sql`select ${unsealedColumns}, ${intent} as intent_due, ${outcome} as outcome_due
        from audit.audit_events event where ${isInLog} and ${CLAIMED} and (${intent} or ${outcome})
        order by coalesce(event.intent_xid, '0'::xid8), event.id limit ${sql.raw(String(limit))}`,
    ),
  );
}

/**
 * Matches events whose row was inserted with its outcome already set. An import may insert such rows; the
 * audit service never does. The sealer seals intent and outcome together.
 */
const INSERTED_FINAL = sql.raw("event.outcome <> 'pending' and event.outcome_xid is null");

interface Unsealed {
  /** The tables and the condition that find events, as `event`. */
  from: SQL;
  /** Whether the intent, and the outcome, of an event is due. */
  intent: SQL;
  outcome: SQL;
}

function selectUnsealed(database: Database, { from, intent, outcome }: Unsealed): Promise<UnsealedRow[]> {
  return database.run("select_unsealed", (orm) =>
    rows<UnsealedRow>(
      orm,
      sql`select ${unsealedColumns},
          coalesce(${intent}, false) and ${hasNoEntry(false)} as intent_due,
          (coalesce(${outcome}, false) or coalesce(${intent}, false) and ${INSERTED_FINAL})
            and ${hasNoEntry(true)} as outcome_due
        from ${from}`,
    ),
  );
}

/**
 * Returns the next events of one kind of owner from before the proof was introduced, owner by owner, from the
 * start of each log.
 */
export function selectOlder(database: Database, after: OlderCursor, limit: number): Promise<UnsealedRow[]> {
  const owner = after.kind === "organization" ? sql`event.organization_id` : sql`event.user_id`;
  return database.run("select_older_unsealed", (orm) =>
    rows<UnsealedRow>(
      orm,
      sql`select ${unsealedColumns}, true as intent_due,
          event.outcome <> 'pending' and event.outcome_xid is null as outcome_due
        from audit.audit_events event
        where event.intent_xid is null and ${owner} is not null
          ${after.kind === "organization" ? sql`and event.named_by_outcome is not true` : sql``}
          and (${owner}, event.id) > (${after.owner}, ${after.id})
        order by ${owner}, event.id limit ${sql.raw(String(limit))}`,
    ),
  );
}

/** The chain of an owner as stored; a new chain has an id and no entry. */
export interface ChainRow {
  owner: string;
  id: number;
  position: number;
  /** The running hash in hexadecimal, or null for a new chain. */
  chain: string | null;
  /** The place of the head in the tree of an older checkpoint; null for a head in the map. */
  inclusion: Inclusion | null;
  checkpoint: CheckpointRow | null;
  /** Whether the chain has entries after its end. */
  goes_on: boolean;
}

export function selectChains(database: Database, owners: readonly string[]): Promise<ChainRow[]> {
  return database.run("select_chains", (orm) =>
    rows<ChainRow>(
      orm,
      sql`select wanted.owner, coalesce(known.id, nextval('audit.chain_ids')) as id,
          coalesce(known.position, 0) as position, encode(known.chain, 'hex') as chain, known.inclusion,
          (select row_to_json(holding) from (
            select ${CHECKPOINT_COLUMNS} from audit.checkpoints where number = known.checkpoint) holding) as checkpoint,
          exists (select from audit.entries entry
            where entry.chain_id = known.id and entry.position > known.position) as goes_on
        from json_array_elements_text(${JSON.stringify(owners)}::text::json) as wanted(owner)
          left join audit.chains known using (owner)`,
    ),
  );
}

export interface EntryWrite {
  chain_id: number;
  position: number;
  occurred_at: string;
  event_id: string;
  is_outcome: boolean;
  /** The running hash, in hexadecimal like the salt. */
  chain: string;
  salt: string | null;
}

/** A declaration at its position; the table has a column for each field. */
export interface RetentionWrite extends Retention {
  chain_id: number;
  position: number;
  /** The running hash, in hexadecimal like the salt. */
  chain: string;
  salt: string;
}

export interface HeadWrite {
  id: number;
  owner: string;
  position: number;
  chain: string;
}

/** Everything that one pass writes. */
export interface PassWrite {
  holder: string;
  sealed_to: string;
  /** Signature of `sealed_to` and `older`. Undefined leaves the stored one. */
  marks?: string | null;
  /** The snapshot sealed before this pass, if it is older than `sealed_to`. */
  sealed_before?: string;
  older: OlderCursor | null;
  entries: readonly EntryWrite[];
  retentions?: readonly RetentionWrite[];
  heads: readonly HeadWrite[];
  /** The nodes that the checkpoint adds to the map of heads. */
  nodes: readonly NodeWrite[];
  /** Null if there are no heads. */
  checkpoint: Checkpoint | null;
  /** The leaves that the tree of checkpoints gets. */
  tree: TreeWrite;
  /** Chains that are not sealed any further, and owners whose chains are sealed again. */
  altered?: readonly AlteredChain[];
  restored?: readonly string[];
  /** More parts of the statement, each followed by a comma. They read `turned`, which is empty if the pass is lost. */
  also?: SQL;
}

/**
 * Writes a pass unless another was written since `passes` was read; returns whether it did. One statement
 * writes it, so a sealer that dies or hangs has written all or nothing, and holds no lock.
 */
export async function writePass(database: Database, passes: number, pass: PassWrite): Promise<boolean> {
  const { checkpoint, older, retentions = [], altered = [], restored = [] } = pass;
  // the service role may not write declarations, so its statements do not name their table
  const declared =
    retentions.length === 0
      ? sql``
      : sql`declared as (
        insert into audit.retentions (chain_id, position, month, declared_at, ranges, chain, salt)
        select chain_id, position, month, declared_at, ranges, decode(chain, 'hex'), decode(salt, 'hex')
        from turned, json_to_recordset(${JSON.stringify(retentions)}::text::json) as given(
          chain_id bigint, position bigint, month text, declared_at timestamptz, ranges json, chain text, salt text)
      ),`;
  const written = await database.run("write_pass", (orm) =>
    rows(
      orm,
      sql`with turned as (
        update audit.sealer set passes = passes + 1, holder = ${pass.holder}, passed_at = clock_timestamp(),
          sealed_to = ${pass.sealed_to}::text::pg_snapshot, older_kind = ${older?.kind ?? null},
          older_owner = ${older?.owner ?? ""}, older_id = ${older?.id ?? ""}
          ${pass.marks === undefined ? sql`` : sql`, marks = ${pass.marks}::text`}
          ${pass.tree.note === undefined ? sql`` : sql`, note = ${pass.tree.note}::text`}
        where passes = ${passes} returning passes, ${pass.sealed_before ?? pass.sealed_to}::text as sealed_before
      ),
      sealed as (
        insert into audit.checkpoints (number, sealed_at, previous, map, jws)
        select number, sealed_at, decode(previous, 'hex'), decode(map, 'hex'), jws
        from turned, json_to_record(${JSON.stringify(checkpoint ?? {})}::text::json) as given(
          number bigint, sealed_at timestamptz, previous text, map text, jws text)
        where number is not null
      ),
      mapped as (
        insert into audit.head_map (checkpoint, path, node)
        select ${checkpoint?.number ?? 0}::bigint, path, decode(node, 'base64')
        from turned, json_to_recordset(${JSON.stringify(pass.nodes)}::text::json) as given(path text, node text)
      ),
      grown as (
        insert into audit.checkpoint_tree (number, hashes)
        select number, decode(hashes, 'base64')
        from turned, json_to_recordset(${JSON.stringify(pass.tree.leaves)}::text::json) as given(
          number bigint, hashes text)
      ),
      entered as (
        insert into audit.entries (chain_id, position, occurred_at, event_id, is_outcome, chain, salt)
        select chain_id, position, occurred_at, event_id, is_outcome, decode(chain, 'hex'), decode(salt, 'hex')
        from turned, json_to_recordset(${JSON.stringify(pass.entries)}::text::json) as given(
          chain_id bigint, position bigint, occurred_at timestamptz, event_id text, is_outcome boolean,
          chain text, salt text)
      ),
      ${declared}
      ${pass.also ?? sql``}
      set_aside as (
        insert into audit.altered_chains (owner, reason, position, chain, sealed_to)
        select owner, reason, position, decode(chain, 'hex'), turned.sealed_before::pg_snapshot
        from turned, json_to_recordset(${JSON.stringify(altered)}::text::json) as given(
          owner text, reason text, position bigint, chain text)
      ),
      restored as (
        delete from audit.altered_chains using turned
        where owner in (select json_array_elements_text(${JSON.stringify(restored)}::text::json))
      ),
      moved as (
        insert into audit.chains (id, owner, position, chain, checkpoint, inclusion)
        select id, owner, position, decode(chain, 'hex'), ${checkpoint?.number ?? 0}::bigint, null
        from turned, json_to_recordset(${JSON.stringify(pass.heads)}::text::json) as given(
          id bigint, owner text, position bigint, chain text)
        on conflict (owner) do update set position = excluded.position, chain = excluded.chain,
          checkpoint = excluded.checkpoint, inclusion = excluded.inclusion
      )
      select passes from turned`,
    ),
  );
  return written.length > 0;
}

/** Returns the cursor of a walk along one kind of owner at this event. */
export function olderCursor(kind: OlderCursor["kind"], row: UnsealedRow): OlderCursor {
  const owner = kind === "organization" ? row.organization_id : row.user_id;
  return { kind, owner: owner ?? "", id: row.id };
}
