import type { Checkpoint, Inclusion } from "@ostiary/lib/domain/proof";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { CHECKPOINT_COLUMNS, type CheckpointRow, checkpointOf } from "../checkpoints/queries.ts";
import { columns } from "../events/queries.ts";
import type { UnsealedRow } from "./entries.ts";
import { type SealWindow, snapshotText } from "./snapshot.ts";

/** How far a walk along the events of one kind of owner has come. */
export interface OlderCursor {
  kind: "organization" | "user";
  owner: string;
  id: string;
}

/** What the sealers of all replicas share. */
export interface SealerState {
  /** Grows with each pass that wrote. */
  passes: number;
  holder: string | null;
  /** For how long nobody has written. */
  idle_ms: number;
  /** A `pg_snapshot`: what it sees has its entries. */
  sealed_to: string;
  /** Null when all events from before the log was proved are sealed. */
  older: OlderCursor | null;
  /** The newest checkpoint; null before the first. */
  checkpoint: Checkpoint | null;
  now: string;
}

type StateRow = Pick<SealerState, "passes" | "holder" | "idle_ms" | "sealed_to" | "now"> & {
  older_kind: OlderCursor["kind"] | null;
  older_owner: string;
  older_id: string;
  checkpoint: CheckpointRow | null;
};

export async function selectState(database: Database): Promise<SealerState> {
  const [found] = await database.run("select_sealer", (orm) =>
    rows<StateRow>(
      orm,
      sql`select passes, holder, sealed_to::text, pg_current_snapshot()::text as now,
          (extract(epoch from clock_timestamp() - passed_at) * 1000)::float8 as idle_ms,
          older_kind, older_owner, older_id,
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

/** The first transaction that comes after `entries` intents, or outcomes, from `xid` on. */
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

/** Whatever the service writes has its request id claimed in the same statement. */
export const CLAIMED = sql`exists (select from audit.request_ids known
    where known.request_id = event.request_id and known.id = event.id)`;

const unsealedColumns = sql`${columns},
  event.intent_xid::text as intent_xid, event.outcome_xid::text as outcome_xid,
  encode(event.intent_salt, 'hex') as intent_salt, encode(event.outcome_salt, 'hex') as outcome_salt,
  event.named_by_outcome, event.intent_member_id,
  ${CLAIMED} as claimed`;

/** Whether the transaction in `column` is one of a window. */
function writtenIn({ late, from, before, now }: SealWindow, column: SQL): SQL {
  const xids = `{${late.join(",")}}`;
  return sql`(
    (${column} >= ${String(from)}::text::xid8 and ${column} < ${String(before)}::text::xid8
      or ${column} = any (${xids}::text::xid8[]))
    and pg_visible_in_snapshot(${column}, ${snapshotText(now)}::text::pg_snapshot))`;
}

/**
 * The events of which something was written by the transactions of a window, as `event`; `due` says what. Intents
 * are found by their request ids, outcomes by themselves, and each event is then looked up by its key, whatever the
 * planner takes their number for.
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

/** What was written by the transactions of a window. */
export function selectWindow(database: Database, window: SealWindow): Promise<UnsealedRow[]> {
  return selectUnsealed(database, {
    from: eventsOf(window),
    intent: sql`due.is_intent`,
    outcome: sql`due.is_outcome`,
  });
}

/** What has no entry, wherever it is, at most `limit` events: for a database whose transactions are counted anew. */
export function selectAnyUnsealed(database: Database, limit: number): Promise<UnsealedRow[]> {
  const due = (column: SQL, is_outcome: boolean) =>
    sql`(${column} is not null and ${CLAIMED} and ${hasNoEntry(is_outcome)})`;
  const intent = due(sql`event.intent_xid`, false);
  const outcome = due(sql`event.outcome_xid`, true);
  const from = sql`audit.audit_events event where ${intent} or ${outcome} limit ${sql.raw(String(limit))}`;
  return selectUnsealed(database, { from, intent, outcome });
}

/** What has an entry is left out, since the numbers of a restored database may come up again. */
function hasNoEntry(is_outcome: boolean): SQL {
  return sql`not exists (select from audit.entries entry
    where entry.event_id = event.id and entry.is_outcome = ${sql.raw(String(is_outcome))})`;
}

/** The service writes no such event, but an import may: its outcome is sealed with its intent. */
const INSERTED_FINAL = sql.raw("event.outcome <> 'pending' and event.outcome_xid is null");

interface Unsealed {
  /** Where events are found, as `event`, and which of them. */
  from: SQL;
  /** Which half of an event is due. */
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

/** The next events of one kind of owner from before the log was proved, owner by owner, each log from its start. */
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

/** An owner's chain as it stands; a new one has an id and no entry. */
export interface ChainRow {
  owner: string;
  id: number;
  position: number;
  /** In hexadecimal; null for a new one. */
  chain: string | null;
  inclusion: Inclusion | null;
  checkpoint: CheckpointRow | null;
}

export function selectChains(database: Database, owners: readonly string[]): Promise<ChainRow[]> {
  return database.run("select_chains", (orm) =>
    rows<ChainRow>(
      orm,
      sql`select wanted.owner, coalesce(known.id, nextval('audit.chain_ids')) as id,
          coalesce(known.position, 0) as position, encode(known.chain, 'hex') as chain, known.inclusion,
          (select row_to_json(holding) from (
            select ${CHECKPOINT_COLUMNS} from audit.checkpoints where number = known.checkpoint) holding) as checkpoint
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
  /** In hexadecimal, as the salt. */
  chain: string;
  salt: string | null;
}

export interface HeadWrite {
  id: number;
  owner: string;
  position: number;
  chain: string;
  inclusion: Inclusion;
}

/** All that one pass writes. */
export interface PassWrite {
  holder: string;
  sealed_to: string;
  older: OlderCursor | null;
  entries: readonly EntryWrite[];
  heads: readonly HeadWrite[];
  /** Null when there are no entries. */
  checkpoint: Checkpoint | null;
}

/**
 * Writes a pass, if no other has been written since `passes` was read, and says whether it did: one statement, so
 * that a sealer that dies or hangs has written all of it or nothing, and holds no lock.
 */
export async function writePass(database: Database, passes: number, pass: PassWrite): Promise<boolean> {
  const { checkpoint, older } = pass;
  const written = await database.run("write_pass", (orm) =>
    rows(
      orm,
      sql`with turned as (
        update audit.sealer set passes = passes + 1, holder = ${pass.holder}, passed_at = clock_timestamp(),
          sealed_to = ${pass.sealed_to}::text::pg_snapshot, older_kind = ${older?.kind ?? null},
          older_owner = ${older?.owner ?? ""}, older_id = ${older?.id ?? ""}
        where passes = ${passes} returning passes
      ),
      sealed as (
        insert into audit.checkpoints (number, sealed_at, previous, heads, jws)
        select number, sealed_at, decode(previous, 'hex'), decode(heads, 'hex'), jws
        from turned, json_to_record(${JSON.stringify(checkpoint ?? {})}::text::json) as given(
          number bigint, sealed_at timestamptz, previous text, heads text, jws text)
        where number is not null
      ),
      entered as (
        insert into audit.entries (chain_id, position, occurred_at, event_id, is_outcome, chain, salt)
        select chain_id, position, occurred_at, event_id, is_outcome, decode(chain, 'hex'), decode(salt, 'hex')
        from turned, json_to_recordset(${JSON.stringify(pass.entries)}::text::json) as given(
          chain_id bigint, position bigint, occurred_at timestamptz, event_id text, is_outcome boolean,
          chain text, salt text)
      ),
      moved as (
        insert into audit.chains (id, owner, position, chain, checkpoint, inclusion)
        select id, owner, position, decode(chain, 'hex'), ${checkpoint?.number ?? 0}::bigint, inclusion
        from turned, json_to_recordset(${JSON.stringify(pass.heads)}::text::json) as given(
          id bigint, owner text, position bigint, chain text, inclusion json)
        on conflict (owner) do update set position = excluded.position, chain = excluded.chain,
          checkpoint = excluded.checkpoint, inclusion = excluded.inclusion
      )
      select passes from turned`,
    ),
  );
  return written.length > 0;
}

/** The owner that a walk along one kind of owners has come to with this event. */
export function olderCursor(kind: OlderCursor["kind"], row: UnsealedRow): OlderCursor {
  const owner = kind === "organization" ? row.organization_id : row.user_id;
  return { kind, owner: owner ?? "", id: row.id };
}
