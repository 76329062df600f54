import type { EventProof } from "@ostiary/lib/contracts/audit";
import { type HexHash, hexOf, type MapProof, ownerOf, ZERO_HASH } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { type EventLog, type EventRow, eventOf, shownIn, withoutOutcome } from "../../events/event.ts";
import { columns, logCondition } from "../../events/event-sql.ts";
import { rootOf } from "../heads/head-map.ts";
import { selectProvenHeads } from "../heads/proofs.ts";
import { type LeafRow, NEWEST_LEAF, selectLeaf, sizeOf } from "../root/tree-sql.ts";
import { isRestored, parseSnapshot, windowAfter } from "../seal/snapshot.ts";
import { CLAIMED, eventsOf } from "../seal/unsealed-sql.ts";

/** The sealed state of an owner's log, which an export with proof shows. */
export interface SealedLog {
  owner: string;
  /** Id of the owner's chain, or null if the owner has no chain. */
  chain_id: number | null;
  /** The head under `leaf`; position 0 and zeros without entries. */
  position: number;
  chain: HexHash;
  /** The proof of the head in the map of `leaf`. */
  map: MapProof;
  /** The number of leaves of all earlier trees. */
  before: number;
  /** The newest leaf under a signed root. Without a key: the newest leaf. Null before the first. */
  leaf: LeafRow | null;
  /** The signed root of the tree that ends with `leaf`; null without a key. */
  note: string | null;
  /** The last position in the chain, which a root may not have yet. */
  end: number;
  /** The sealed transactions, as a `pg_snapshot`. */
  sealed_to: string;
  now: string;
  /** Why the chain is left out, or null. */
  left_out: string | null;
}

export async function selectSealedLog(tx: Orm, log: EventLog): Promise<SealedLog> {
  const owner = ownerOf(log.kind, log.id);
  const [found] = await rows<Omit<SealedLog, "position" | "chain" | "map" | "leaf"> & { newest: number }>(
    tx,
    sql`select wanted.owner, known.id as chain_id, coalesce(known.position, 0) as "end", sealer.note,
        sealer.sealed_to::text as sealed_to, pg_current_snapshot()::text as now, aside.reason as left_out,
        (select coalesce(max(before), 0) from audit.trees) as before,
        coalesce(${NEWEST_LEAF}, 0) as newest
      from audit.sealer sealer, (values (${owner})) as wanted(owner)
        left join audit.chains known using (owner)
        left join audit.altered_chains aside using (owner)`,
  );
  if (found === undefined) throw new Error("The sealer's row is gone from audit.sealer.");
  const { newest, ...state } = found;
  const number = state.note === null ? newest : state.before + sizeOf(state.note);
  const leaf = await selectLeaf(tx, number);
  const [head] = leaf === null ? [EMPTY_HEAD] : await selectProvenHeads(tx, owner, [rootOf(leaf)]);
  if (head == null) throw new Error(`The map of heads has lost nodes on the path to ${owner}.`);
  return { ...state, ...head, leaf };
}

const EMPTY_HEAD = { position: 0, chain: hexOf(ZERO_HASH), map: { path: [] } };

/** Returns whether the log may have an event without a position that was committed before the snapshot `asked`. */
export async function isUnsealed(
  database: Database,
  log: EventLog,
  { sealed_to, now, end, position }: SealedLog,
  asked: string,
): Promise<boolean> {
  const sealed = parseSnapshot(sealed_to);
  // a restored snapshot has transaction numbers of another server: the sealer searches this database first
  if (end > position || isRestored(sealed, parseSnapshot(now))) return true;
  const found = await database.run("select_unsealed_exists", (orm) =>
    rows(
      orm,
      sql`select 1 from ${eventsOf(windowAfter(sealed, parseSnapshot(asked), null))}
        where ${logCondition(log)} limit 1`,
    ),
  );
  return found.length > 0;
}

type ChainPosition = { position: number; salt: string; chain: HexHash };

type ProvenRow = EventRow & {
  named_by_outcome: boolean | null;
  intent_member_id: string | null;
  intent: ChainPosition | null;
  outcome_position: ChainPosition | null;
  /** Whether an entry that was committed before the export was requested has no position. */
  unsealed: boolean;
  claimed: boolean;
};

/** An event of an export, and the positions of its entries in the chain. */
interface ProvenEventLine {
  event: ReturnType<typeof shownIn>;
  proof: EventProof;
}

/** The error for an event that was committed before the request and has no position. */
export class NotSealed extends Error {
  /** Whether the sealer can give the event a position once it looks for it. */
  readonly isSealable: boolean;

  constructor(id: string, isSealable: boolean) {
    super(`the event ${id} is committed and has no position in the chain`);
    this.isSealable = isSealable;
  }
}

/**
 * Streams all events of a log up to its sealed head, newest first, in batches. Leaves out what was committed after the
 * snapshot `asked` and is not under the head.
 *
 * @throws NotSealed for an event that was committed before and is not under the head
 */
export async function* streamProvenEvents(
  database: Database,
  log: EventLog,
  sealed: SealedLog,
  { asked, batchRows }: { asked: string; batchRows: number },
): AsyncGenerator<ProvenEventLine[], void, void> {
  const statement = provenStatement(log, sealed, asked);
  for await (const found of database.stream<ProvenRow>("export_proven_events", statement, batchRows)) {
    yield found.flatMap((row) => lineOf(log, row));
  }
}

function provenStatement(log: EventLog, { chain_id, position }: SealedLog, asked: string): SQL {
  // an impossible transaction number counts as seen
  const seen = (xid: SQL) => sql`coalesce(pg_visible_in_snapshot(${xid}, ${asked}::text::pg_snapshot)
    or not pg_visible_in_snapshot(${xid}, pg_current_snapshot()), true)`;
  const entry = (is_outcome: SQL) => sql`left join lateral (
      select position, encode(chain, 'hex') as chain from audit.entries
      where event_id = event.id and chain_id = ${chain_id ?? 0}::bigint and is_outcome = ${is_outcome}
        and position <= ${position}::bigint offset 0) `;
  const positionOf = (
    name: SQL,
    salt: SQL,
  ) => sql`case when ${name}.position is not null then json_build_object(
      'position', ${name}.position, 'salt', coalesce(encode(${salt}, 'hex'), ''), 'chain', ${name}.chain) end`;
  // if the outcome named this log, the outcome's transaction added the event to the log
  const addedXid =
    log.kind === "organization"
      ? sql`case when event.named_by_outcome then event.outcome_xid else event.intent_xid end`
      : sql`event.intent_xid`;
  return sql`select ${columns}, event.named_by_outcome, event.intent_member_id,
      ${positionOf(sql`i`, sql`event.intent_salt`)} as intent,
      ${positionOf(sql`o`, sql`event.outcome_salt`)} as outcome_position,
      i.position is null and (o.position is not null or ${seen(addedXid)})
        or o.position is null and event.outcome <> 'pending' and ${seen(sql`event.outcome_xid`)} as unsealed,
      (i.position is not null or ${CLAIMED}) as claimed
    from audit.audit_events event
      ${entry(sql`false`)} i on true
      ${entry(sql`true`)} o on true
    where ${logCondition(log)}
    order by event.id desc`;
}

/** Returns the line of an event, or none for an event that was committed after the request. */
function lineOf(log: EventLog, row: ProvenRow): ProvenEventLine[] {
  const {
    named_by_outcome,
    intent_member_id,
    intent,
    outcome_position: outcome,
    unsealed,
    claimed,
    ...event
  } = row;
  if (unsealed) throw new NotSealed(row.id, claimed);
  if (intent === null) return [];
  const named = named_by_outcome === true;
  // an event that is pending in the database is shown with everything that it has, so that a verifier sees a change
  const shown =
    outcome === null && event.outcome !== "pending" ? withoutOutcome(event, named, intent_member_id) : event;
  const proof = {
    intent,
    outcome: outcome === null ? null : { ...outcome, ...(named && { intent_member_id }) },
  };
  return [{ event: shownIn(log, eventOf(shown)), proof }];
}
