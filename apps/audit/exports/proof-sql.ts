import {
  type EarlierHead,
  type EventProof,
  type ProofEnd,
  RECENT_CHECKPOINTS,
} from "@ostiary/lib/contracts/audit";
import {
  type ChainRange,
  type Checkpoint,
  hexOf,
  type Inclusion,
  ownerOf,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { selectTreeProofs, type TreeProofs, type TreeQuestions } from "../checkpoint-tree/proofs.ts";
import { type EventLog, type EventRow, eventOf, shownIn, withoutOutcome } from "../events/event.ts";
import { columns, logCondition } from "../events/sql.ts";
import { selectProvenHeads } from "../head-map/proofs.ts";
import {
  CHECKPOINT_COLUMNS,
  type CheckpointRow,
  checkpointOf,
  selectCheckpoints,
  selectSigningKeys,
} from "../published-checkpoints/sql.ts";
import { parseSnapshot, windowAfter } from "../sealing/snapshot.ts";
import { CLAIMED, eventsOf } from "../sealing/unsealed-sql.ts";

/** The sealed state of an owner's log, which an export with proof shows. */
export interface SealedLog {
  owner: string;
  /** Id of the owner's chain, or null if the owner has no chain. */
  chain_id: number | null;
  position: number;
  chain: string;
  /** The inclusion proof of a head in the tree of an older checkpoint; null for a head in the map of heads. */
  inclusion: Inclusion | null;
  /**
   * The checkpoint that contains the head: the newest one, or an older one without a map. Null if there is
   * none.
   */
  checkpoint: CheckpointRow | null;
  /** The sealed transactions, as a `pg_snapshot`. */
  sealed_to: string;
  now: string;
  /** Whether the log was sealed on another database server, and restored here from a dump. */
  foreign: boolean;
  /**
   * The time before which months were dropped without declarations; null if no month was dropped that way.
   */
  undeclared_before: string | null;
}

/** A snapshot from before the first transaction. */
const NOTHING_SEEN = "3:3:";

export async function selectSealedLog(database: Database, log: EventLog): Promise<SealedLog> {
  const owner = ownerOf(log.kind, log.id);
  const [found] = await query<Omit<SealedLog, "foreign">>(database, "select_sealed_log")`
    select wanted.owner, known.id as chain_id, coalesce(known.position, 0) as position,
        coalesce(encode(known.chain, 'hex'), ${hexOf(ZERO_HASH)}) as chain, known.inclusion,
        (select row_to_json(holding) from (
          select ${CHECKPOINT_COLUMNS} from audit.checkpoints
          where case when known.inclusion is null then map is not null else number = known.checkpoint end
          order by number desc limit 1) holding) as checkpoint,
        coalesce(aside.sealed_to, sealer.sealed_to)::text as sealed_to, pg_current_snapshot()::text as now, sealer.undeclared_before
      from audit.sealer sealer, (values (${owner})) as wanted(owner)
        left join audit.chains known using (owner)
        left join audit.altered_chains aside using (owner)`;
  if (found === undefined) throw new Error("The sealer's row is gone from audit.sealer.");
  // A restored snapshot contains transaction numbers of another server. Until the sealer has searched this database,
  // an event without a position counts as not sealed yet, never as missed by the sealer.
  const foreign = parseSnapshot(found.now).xmax < parseSnapshot(found.sealed_to).xmax;
  return { ...found, foreign, sealed_to: foreign ? NOTHING_SEEN : found.sealed_to };
}

/** Returns whether the log may have an unsealed event that was committed before the snapshot `asked`. */
export async function isUnsealed(
  database: Database,
  log: EventLog,
  { sealed_to, foreign }: SealedLog,
  asked: string,
): Promise<boolean> {
  if (foreign) return true;
  const [sealed, now] = [parseSnapshot(sealed_to), parseSnapshot(asked)];
  const found = await query(database, "select_unsealed_exists")`
    select 1 from ${eventsOf(windowAfter(sealed, now, null))} where ${logCondition(log)} limit 1`;
  return found.length > 0;
}

type ProvenRow = EventRow & {
  named_by_outcome: boolean | null;
  intent_member_id: string | null;
  /** Whether the outcome belongs to the state of the log that the export shows. */
  outcome_seen: boolean;
  intent: EventProof["outcome"];
  outcome_place: EventProof["outcome"];
};

/** An event of an export, and the positions of its entries in the chain. */
interface ProvenEventLine {
  event: ReturnType<typeof shownIn>;
  proof: EventProof;
}

/**
 * Streams all events of a log as they were when the log was sealed, newest first, in batches. An event that the
 * sealer missed is included, without a position.
 */
export async function* streamProvenEvents(
  database: Database,
  log: EventLog,
  sealed: SealedLog,
  batchRows: number,
): AsyncGenerator<ProvenEventLine[], void, void> {
  const statement = provenStatement(log, sealed);
  for await (const found of database.stream<ProvenRow>("export_proven_events", statement, batchRows)) {
    yield found.map((row) => lineOf(log, row));
  }
}

function provenStatement(log: EventLog, { chain_id, position, sealed_to }: SealedLog): SQL {
  const seen = (xid: SQL) =>
    sql`coalesce(pg_visible_in_snapshot(${xid}, ${sealed_to}::text::pg_snapshot), true)`;
  const entry = (is_outcome: SQL) => sql`left join lateral (
      select position, encode(chain, 'hex') as chain, encode(salt, 'hex') as salt from audit.entries
      where event_id = event.id and chain_id = ${chain_id ?? 0}::bigint and is_outcome = ${is_outcome} offset 0) `;
  const place = (
    name: SQL,
    salt: SQL,
  ) => sql`case when ${name}.position <= ${position}::bigint then json_build_object(
      'position', ${name}.position, 'salt', coalesce(${name}.salt, encode(${salt}, 'hex'), ''),
      'chain', ${name}.chain) end`;
  // if the outcome named this log, the outcome's transaction added the event to the log
  const addedXid =
    log.kind === "organization"
      ? sql`case when event.named_by_outcome then event.outcome_xid else event.intent_xid end`
      : sql`event.intent_xid`;
  const was = (name: SQL, unplaced: SQL) =>
    sql`coalesce(${name}.position <= ${position}::bigint, ${unplaced})`;
  // the sealer skips an event without a row in audit.request_ids: the export shows the event without a position
  const intentUnplaced = sql`${seen(addedXid)} or not ${CLAIMED}`;
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
  return {
    event: shownIn(log, eventOf(shown)),
    proof: {
      intent:
        intent !== null && named ? { ...intent, organization_id: null, member_id: intent_member_id } : intent,
      outcome: outcome_place,
    },
  };
}

/** The optional parts of the last line of an export. */
export interface ProofEndParts {
  /** The number of a checkpoint whose head the reader asked for, or null. */
  asked: number | null;
  /** The newest root that witnesses cosigned, or null. */
  cosigned: TreeQuestions["cosigned"];
}

/** Returns the last line of an export with proof. */
export async function selectProofEnd(
  database: Database,
  sealed: SealedLog,
  { asked, cosigned }: ProofEndParts,
): Promise<ProofEnd> {
  const { owner, position, chain, inclusion } = sealed;
  const checkpoint = sealed.checkpoint === null ? null : checkpointOf(sealed.checkpoint);
  const retention = await selectRetention(database, sealed);
  const [proven] =
    checkpoint?.map === undefined ? [] : await selectProvenHeads(database, owner, [checkpoint.number]);
  const heads = proven == null ? [] : await selectEarlierHeads(database, sealed, asked);
  const proofs =
    checkpoint === null ? null : await selectTree(database, checkpoint, heads, { asked, cosigned });
  return {
    head: { owner, position, chain },
    checkpoint,
    ...(proven != null && { map: proven.map, heads: heads.map((head, at) => placed(head, proofs, at)) }),
    ...(proofs !== null && { tree: proofs.tree }),
    inclusion,
    recent_checkpoints: await selectCheckpoints(database, null, RECENT_CHECKPOINTS),
    ...(retention.length > 0 && { retention }),
    dropped: await selectDropped(database, sealed),
    keys: await selectSigningKeys(database),
  };
}

async function selectTree(
  database: Database,
  checkpoint: Checkpoint,
  heads: readonly EarlierHead[],
  { asked, cosigned }: ProofEndParts,
): Promise<TreeProofs | null> {
  const [found] = asked === null ? [] : await selectCheckpoints(database, asked + 1, 1);
  const earlier = heads.map((head) => head.checkpoint);
  return selectTreeProofs(database, checkpoint, { earlier, asked: found ?? null, cosigned });
}

/** Returns a head with the path of its checkpoint in the tree of checkpoints. */
function placed(head: EarlierHead, proofs: TreeProofs | null, at: number): EarlierHead {
  const path = proofs?.earlier[at];
  return path === undefined ? head : { ...head, path: [...path] };
}

/**
 * Returns the owner's heads under earlier checkpoints: the last checkpoint of each UTC day since the first entry,
 * and checkpoint `asked`. A checkpoint without a head map shows no head.
 */
async function selectEarlierHeads(
  database: Database,
  { owner, chain_id, checkpoint }: SealedLog,
  asked: number | null,
): Promise<EarlierHead[]> {
  const newest = String(checkpoint?.number ?? 0);
  const found = await query<CheckpointRow>(database, "select_daily_checkpoints")`
    with days as (
        select day from audit.entries entry,
          generate_series(date_trunc('day', entry.occurred_at at time zone 'UTC'),
            now() at time zone 'UTC', interval '1 day') day
        where entry.chain_id = ${chain_id ?? 0}::bigint and entry.position = 1
      ),
      wanted as (
        select (select number from audit.checkpoints of_day
          where of_day.sealed_at >= day at time zone 'UTC'
            and of_day.sealed_at < (day + interval '1 day') at time zone 'UTC'
          order by of_day.sealed_at desc, number desc limit 1) as number
        from days
        union
        select ${String(asked ?? 0)}::text::bigint
      )
      select ${CHECKPOINT_COLUMNS} from audit.checkpoints
      where number in (select number from wanted) and map is not null and number < ${newest}::text::bigint
      order by number`;
  const checkpoints = found.map(checkpointOf);
  const heads = await selectProvenHeads(
    database,
    owner,
    checkpoints.map(({ number }) => number),
  );
  return checkpoints.flatMap((under, index) => {
    const head = heads[index] ?? null;
    return head === null ? [] : [{ checkpoint: under, ...head }];
  });
}

type Declaration = NonNullable<ProofEnd["retention"]>[number];

/**
 * Returns the declarations of dropped months in the owner's chain, up to the sealed position.
 *
 * @throws Error if a month was declared since the export began, because the export may lack both the month's events
 * and its declaration
 */
async function selectRetention(
  database: Database,
  { chain_id, position }: SealedLog,
): Promise<Declaration[]> {
  const found = await query<Declaration>(database, "select_retention")`
    select position, encode(salt, 'hex') as salt, encode(chain, 'hex') as chain, month, declared_at, ranges
      from audit.retentions where chain_id = ${chain_id ?? 0}::bigint order by position`;
  if (found.some((declaration) => declaration.position > position)) {
    throw new Error("Retention declared months of this log during the export: export the log again.");
  }
  return found.map(({ declared_at, ...declaration }) => ({
    ...declaration,
    declared_at: new Date(declared_at).toISOString(),
  }));
}

/** Returns the ranges of entries that were dropped before declarations existed, or null if there are none. */
async function selectDropped(
  database: Database,
  { chain_id, position, undeclared_before }: SealedLog,
): Promise<ProofEnd["dropped"]> {
  if (chain_id === null || undeclared_before === null) return null;
  const occurred_before = new Date(undeclared_before).toISOString();
  const ranges = await query<ChainRange>(database, "select_dropped_entries")`
    with gone as (
        select position, position - row_number() over (order by position) as run
        from audit.entries
        where chain_id = ${chain_id}::bigint and position <= ${position}::bigint
          and occurred_at < ${occurred_before}::text::timestamptz
      ),
      runs as (select min(position) as "from", max(position) as "to" from gone group by run)
      select runs."from", runs."to", encode(entry.chain, 'hex') as chain
      from runs join audit.entries entry on entry.chain_id = ${chain_id}::bigint and entry.position = runs."to"
      order by 1`;
  return ranges.length === 0 ? null : { occurred_before, ranges };
}
