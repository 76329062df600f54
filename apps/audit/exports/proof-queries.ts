import type { EventProof, ProofEnd } from "@ostiary/lib/contracts/audit";
import { RECENT_CHECKPOINTS } from "@ostiary/lib/contracts/audit";
import { hexOf, type Inclusion, ownerOf, ZERO_HASH } from "@ostiary/lib/domain/proof";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import {
  CHECKPOINT_COLUMNS,
  type CheckpointRow,
  checkpointOf,
  selectCheckpoints,
  selectSigningKeys,
} from "../checkpoints/queries.ts";
import { type EventLog, type EventRow, eventOf, withoutPerson } from "../events/event.ts";
import { columns } from "../events/queries.ts";
import { CLAIMED, eventsOf } from "../sealing/queries.ts";
import { parseSnapshot, windowAfter } from "../sealing/snapshot.ts";

/** How far the log of an owner is sealed: what an export with proof holds. */
export interface SealedLog {
  owner: string;
  /** Of the owner's chain; null when it has none. */
  chain_id: number | null;
  position: number;
  chain: string;
  inclusion: Inclusion | null;
  checkpoint: CheckpointRow | null;
  /** A `pg_snapshot`. */
  sealed_to: string;
  now: string;
  /** Whether it was sealed in another server, from which this database was dumped. */
  foreign: boolean;
  /** Whether what was written before the log was proved is sealed. */
  older_sealed: boolean;
}

/** A snapshot from before the first transaction. */
const NOTHING_SEEN = "3:3:";

export async function selectSealedLog(database: Database, log: EventLog): Promise<SealedLog> {
  const owner = ownerOf(log.kind, log.id);
  const [found] = await database.run("select_sealed_log", (orm) =>
    rows<Omit<SealedLog, "foreign">>(
      orm,
      sql`select wanted.owner, known.id as chain_id, coalesce(known.position, 0) as position,
          coalesce(encode(known.chain, 'hex'), ${hexOf(ZERO_HASH)}) as chain, known.inclusion,
          (select row_to_json(holding) from (
            select ${CHECKPOINT_COLUMNS} from audit.checkpoints where number = known.checkpoint) holding) as checkpoint,
          sealer.sealed_to::text, pg_current_snapshot()::text as now, sealer.older_kind is null as older_sealed
        from audit.sealer sealer, (values (${owner})) as wanted(owner)
          left join audit.chains known using (owner)`,
    ),
  );
  if (found === undefined) throw new Error("The sealer's row is gone from audit.sealer.");
  // a database that was restored into another server: until its sealer has looked, nothing is late
  const foreign = parseSnapshot(found.now).xmax < parseSnapshot(found.sealed_to).xmax;
  return { ...found, foreign, sealed_to: foreign ? NOTHING_SEEN : found.sealed_to };
}

/** Whether something of a log is not sealed that was committed at the moment of the snapshot `asked`. */
export async function isUnsealed(
  database: Database,
  log: EventLog,
  { sealed_to, older_sealed, foreign }: SealedLog,
  asked: string,
): Promise<boolean> {
  if (!older_sealed || foreign) return true;
  const [sealed, now] = [parseSnapshot(sealed_to), parseSnapshot(asked)];
  const found = await database.run("select_unsealed_exists", (orm) =>
    rows(
      orm,
      sql`select 1 from ${eventsOf(windowAfter(sealed, now, null))} where ${logCondition(log)} limit 1`,
    ),
  );
  return found.length > 0;
}

function logCondition({ kind, id }: EventLog): SQL {
  return kind === "organization" ? sql`event.organization_id = ${id}` : sql`event.user_id = ${id}`;
}

type ProvenRow = EventRow & {
  named_by_outcome: boolean | null;
  intent_member_id: string | null;
  /** Whether the outcome was to be seen when the log was sealed so far. */
  outcome_seen: boolean;
  intent: EventProof["outcome"];
  outcome_place: EventProof["outcome"];
};

/** An event of an export, and where it is in the proof. */
export interface ProvenEventLine {
  event: ReturnType<typeof withoutPerson>;
  proof: EventProof;
}

/**
 * All events of a log as they were when it was sealed so far, newest first, in batches. What was to be sealed by
 * then and was not comes without a place: nothing that is in the log is left out of its proof.
 */
export async function* streamProvenEvents(
  database: Database,
  log: EventLog,
  sealed: SealedLog,
  batch_rows: number,
): AsyncGenerator<ProvenEventLine[], void, void> {
  const statement = provenStatement(log, sealed);
  for await (const found of database.stream<ProvenRow>("export_proven_events", statement, batch_rows)) {
    yield found.map((row) => lineOf(log, row));
  }
}

function provenStatement(log: EventLog, { chain_id, position, sealed_to, older_sealed }: SealedLog): SQL {
  const seen = (xid: SQL) => sql`case when ${xid} is null then ${older_sealed}::boolean
    else pg_visible_in_snapshot(${xid}, ${sealed_to}::text::pg_snapshot) end`;
  const entry = (is_outcome: SQL) => sql`left join lateral (
      select position, encode(chain, 'hex') as chain, encode(salt, 'hex') as salt from audit.entries
      where event_id = event.id and chain_id = ${chain_id ?? 0}::bigint and is_outcome = ${is_outcome} offset 0) `;
  const place = (
    name: SQL,
    salt: SQL,
  ) => sql`case when ${name}.position <= ${position}::bigint then json_build_object(
      'position', ${name}.position, 'salt', coalesce(${name}.salt, encode(${salt}, 'hex'), ''),
      'chain', ${name}.chain) end`;
  // an event that is in a log by its outcome was put there by the outcome's transaction
  const intentXid =
    log.kind === "organization"
      ? sql`case when event.named_by_outcome then event.outcome_xid else event.intent_xid end`
      : sql`event.intent_xid`;
  const was = (name: SQL, unplaced: SQL) =>
    sql`coalesce(${name}.position <= ${position}::bigint, ${unplaced})`;
  // what no request has claimed is never sealed: there is nothing to wait for
  const intentUnplaced = sql`${seen(intentXid)} or not ${CLAIMED}`;
  return sql`select ${columns}, event.named_by_outcome, event.intent_member_id,
      event.outcome <> 'pending' and ${was(sql`o`, seen(sql`event.outcome_xid`))} as outcome_seen,
      ${place(sql`i`, sql`event.intent_salt`)} as intent,
      ${place(sql`o`, sql`event.outcome_salt`)} as outcome_place
    from audit.audit_events event
      ${entry(sql`false`)} i on true
      ${entry(sql`true`)} o on true
    where ${logCondition(log)} and ${was(sql`i`, intentUnplaced)}
    order by event.id desc`;
}

function lineOf(log: EventLog, row: ProvenRow): ProvenEventLine {
  const { named_by_outcome, intent_member_id, outcome_seen, intent, outcome_place, ...event } = row;
  const shown = outcome_seen ? event : withoutOutcome(event, named_by_outcome === true, intent_member_id);
  const named = outcome_seen && named_by_outcome === true;
  const full = eventOf(shown);
  return {
    event: log.kind === "user" ? full : withoutPerson(full),
    proof: {
      intent:
        intent !== null && named ? { ...intent, organization_id: null, member_id: intent_member_id } : intent,
      outcome: outcome_place,
    },
  };
}

/** The event as it was before its outcome. */
function withoutOutcome(row: EventRow, named: boolean, member_id: string | null): EventRow {
  const pending = { ...row, outcome: "pending" as const, status: null, details: null, created_id: null };
  return named ? { ...pending, organization_id: null, actor_member_id: member_id } : pending;
}

/** The line that ends an export of a log that is sealed so far. */
export async function selectProofEnd(database: Database, sealed: SealedLog): Promise<ProofEnd> {
  const { owner, position, chain, inclusion, checkpoint } = sealed;
  return {
    head: { owner, position, chain },
    checkpoint: checkpoint === null ? null : checkpointOf(checkpoint),
    inclusion,
    recent_checkpoints: await selectCheckpoints(database, null, RECENT_CHECKPOINTS),
    dropped: await selectDropped(database, sealed),
    keys: await selectSigningKeys(database),
  };
}

/** Entries of events older than the oldest month that there is, in runs of places; null when there are none. */
async function selectDropped(
  database: Database,
  { chain_id, position }: SealedLog,
): Promise<ProofEnd["dropped"]> {
  if (chain_id === null) return null;
  const [oldest] = await database.run("select_oldest_month", (orm) =>
    rows<{ occurred_before: string | null }>(
      orm,
      sql`select min(substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \\(''([^'']+)''\\)')::timestamptz)
          as occurred_before
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'audit.audit_events'::regclass`,
    ),
  );
  if (oldest?.occurred_before == null) return null;
  const occurred_before = new Date(oldest.occurred_before).toISOString();
  const ranges = await database.run("select_dropped_entries", (orm) =>
    rows<{ from: number; to: number; chain: string }>(
      orm,
      sql`with gone as (
          select position, position - row_number() over (order by position) as run
          from audit.entries
          where chain_id = ${chain_id}::bigint and position <= ${position}::bigint
            and occurred_at < ${occurred_before}::text::timestamptz
        ),
        runs as (select min(position) as "from", max(position) as "to" from gone group by run)
        select runs."from", runs."to", encode(entry.chain, 'hex') as chain
        from runs join audit.entries entry on entry.chain_id = ${chain_id}::bigint and entry.position = runs."to"
        order by 1`,
    ),
  );
  return ranges.length === 0 ? null : { occurred_before, ranges };
}
