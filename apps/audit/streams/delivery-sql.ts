import type { HexHash } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, query, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { bigint } from "../bigint-sql.ts";
import { columns } from "../events/event-sql.ts";
import { exactFilters } from "../events/filter.ts";
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX } from "./batch.ts";
import type { ChainPosition, EntryRow } from "./entry.ts";
import { failed, HEALED, isClaimable, leaseEnd, pauseFor } from "./lease-sql.ts";
import type { FailureState, RetryPlan } from "./retry.ts";
import { SECRET_COLUMNS, type SecretRow } from "./secret-sql.ts";
import type { AuditStream, StreamFilter } from "./stream.ts";

/** The maximum number of entries that one query scans for a stream with a filter. */
const WINDOW_ENTRIES = 1_000;

export interface DeliveryRow extends SecretRow, FailureState {
  id: string;
  organization_id: string;
  url: string;
  format: AuditStream["format"];
  filter: StreamFilter | null;
  status: AuditStream["status"];
  chain_id: number;
  /** The last position of the chain. */
  head: number;
  /** Entries up to this position are delivered, or left out by the filter. */
  position: number;
  after_position: number;
  /** The running hash after the last delivered entry. */
  after_chain: HexHash;
}

const CHAIN = sql`audit.chains chain`;
const ofStream = sql`chain.owner = 'organization:' || stream.organization_id`;
const deliveryColumns = sql`stream.id, stream.organization_id, stream.url, stream.format, stream.filter, stream.status,
  chain.id as chain_id, chain.position as head, stream.position, stream.after_position,
  encode(stream.after_chain, 'hex') as after_chain, stream.failures, stream.failing_ms, ${SECRET_COLUMNS}`;

/**
 * Claims the leases of streams that have something to deliver and that no other replica delivers. The stream that
 * has waited longest comes first. `is_slow` is the last call's: null selects streams whose receiver was not called yet.
 */
export function claimStreams(
  database: Database,
  lease: string,
  is_slow: boolean | null,
  limit: number,
): Promise<DeliveryRow[]> {
  return query<DeliveryRow>(database, "claim_streams")`
    with due as (
        select stream.id from audit.streams stream join ${CHAIN} on ${ofStream}
        where stream.status <> 'paused' and stream.is_slow is not distinct from ${is_slow}::boolean
          and chain.position > stream.position and ${isClaimable}
        order by stream.next_attempt_at limit ${limit} for update of stream skip locked
      )
      update audit.streams stream set lease = ${lease}, lease_until = ${leaseEnd}
      from due, ${CHAIN} where stream.id = due.id and ${ofStream}
      returning ${deliveryColumns}`;
}

/**
 * The new position of a stream. `delivered` is the last delivered entry, or null if the filter left out all
 * entries.
 */
interface Advance {
  position: number;
  delivered: (ChainPosition & { occurred_at: string }) | null;
  is_slow: boolean;
}

/**
 * Stores the new position of a stream and renews its lease. Returns the stream as it is now, or null if this
 * replica has lost the lease. A stream that was paused during the request stays paused.
 */
export async function advanceStream(
  database: Database,
  id: string,
  lease: string,
  { position, delivered, is_slow }: Advance,
): Promise<DeliveryRow | null> {
  const sets =
    delivered === null
      ? sql``
      : sql`, after_position = ${bigint(delivered.position)}, after_chain = decode(${delivered.chain}, 'hex'),
          delivered_position = ${bigint(delivered.position)},
          delivered_occurred_at = ${delivered.occurred_at}::text::timestamptz,
          status = case stream.status when 'failing' then 'active' else stream.status end,
          ${HEALED}, is_slow = ${is_slow}`;
  const [found] = await query<DeliveryRow>(database, "advance_stream")`
    update audit.streams stream set position = ${bigint(position)}, ${pauseFor(0)},
        lease_until = ${leaseEnd} ${sets}
      from ${CHAIN} where stream.id = ${id} and stream.lease = ${lease} and ${ofStream}
      returning ${deliveryColumns}`;
  return found ?? null;
}

/**
 * Records a delivery request that failed, and releases the lease. Returns the status of the stream, or null if the
 * lease was lost, or if the stream has another URL by now, whose receiver refused nothing.
 */
export async function failStream(
  database: Database,
  { id, url }: Pick<DeliveryRow, "id" | "url">,
  lease: string,
  error: string,
  plan: RetryPlan,
): Promise<AuditStream["status"] | null> {
  const [found] = await query<{ status: AuditStream["status"] }>(database, "fail_stream")`
    update audit.streams set ${failed(error, plan)}, is_slow = true,
        status = case when status = 'paused' or ${plan.givesUp}::boolean then 'paused' else 'failing' end
      where id = ${id} and lease = ${lease} and url = ${url} returning status`;
  return found?.status ?? null;
}

/** The next entries of a stream, and how far the log was scanned for them. */
interface NextEntries {
  entries: EntryRow[];
  /** Entries up to this position are in `entries`, or left out by the filter. */
  scanned: number;
  /** The entry before `entries`, or the sealed end that the restart in `entries` continues. */
  after: ChainPosition;
  /** Whether the next entry is missing, and no restart gave it up. */
  isStuck: boolean;
}

/** Reads the next entries of a stream in the order of its chain. */
export async function selectNext(database: Database, stream: DeliveryRow): Promise<NextEntries> {
  const { chain_id, position, filter, head } = stream;
  const after = { position: stream.after_position, chain: stream.after_chain };
  if (filter === null) {
    const entries = await selectUnbroken(database, stream, position);
    const reached = entries.at(-1)?.position ?? position;
    if (reached > position || head <= position) {
      return { entries, scanned: reached, after, isStuck: false };
    }
    const end = await database.run("select_given_up", (orm) => selectGivenUp(orm, chain_id, position + 1));
    if (end === null) return { entries, scanned: position, after, isStuck: true };
    const later = await selectUnbroken(database, stream, end.position);
    return { entries: later, scanned: later.at(-1)?.position ?? position, after: end, isStuck: false };
  }
  const end = Math.min(position + WINDOW_ENTRIES, head);
  const { entries, isCut } = await selectEntries(database, [{ chain_id, position, end }], matches(filter));
  const last = entries.at(-1);
  const isFull = last !== undefined && (entries.length === BATCH_ENTRIES_MAX || isCut);
  return { entries, scanned: isFull ? last.position : end, after, isStuck: false };
}

/** Reads the entries of a stream's chain after a position, up to the first one that is missing. */
async function selectUnbroken(
  database: Database,
  { chain_id, head }: DeliveryRow,
  position: number,
): Promise<EntryRow[]> {
  const end = Math.min(position + BATCH_ENTRIES_MAX, head);
  const found = await selectEntries(database, [{ chain_id, position, end }]);
  return unbroken(found.entries, position);
}

/** Returns the sealed end of a chain that a restart continues, if that restart gave up the entry at `missing`. */
export async function selectGivenUp(
  orm: Orm,
  chain_id: number,
  missing: number,
): Promise<ChainPosition | null> {
  const [found] = await rows<ChainPosition>(
    orm,
    sql`select position - 1 as position, content->>'lost' as chain from audit.declarations
      where chain_id = ${bigint(chain_id)} and kind = 'restart' and position > ${bigint(missing)}
        and content->>'lost' ~ '^[0-9a-f]{64}$'
        and case when content->>'from' ~ '^[0-9]{1,15}$' then (content->>'from')::bigint end <= ${bigint(missing)}
      order by position limit 1`,
  );
  return found ?? null;
}

/** The entries of a chain after a position, up to another one. */
interface ChainRange {
  chain_id: number;
  position: number;
  end: number;
}

type FoundEntry = EntryRow & { chain_id: number };

interface FlatRow extends ChainPosition, Pick<EntryRow, "is_outcome" | "salt" | "declaration"> {
  chain_id: number;
  entry_occurred_at: string;
  is_dropped: boolean;
  bytes_before: number;
}

/**
 * Returns up to {@link BATCH_ENTRIES_MAX} entries of ranges, in the order of the ranges and then of positions. Cuts the
 * list once the params of the events exceed {@link BATCH_BYTES_MAX}.
 */
export async function selectEntries(
  database: Database,
  ranges: readonly ChainRange[],
  wanted: SQL = sql`true`,
): Promise<{ entries: FoundEntry[]; isCut: boolean }> {
  const asked = JSON.stringify(
    ranges.map(({ chain_id, position, end }, turn) => ({ turn, chain_id, position, end_at: end })),
  );
  const inRange = sql`chain_id = asked.chain_id and position > asked.position and position <= asked.end_at`;
  const limit = sql.raw(String(BATCH_ENTRIES_MAX));
  const found = await query<FlatRow & NonNullable<EntryRow["event"]>>(database, "select_stream_entries")`
    select asked.chain_id, entry.position, encode(entry.chain, 'hex') as chain, entry.is_outcome, entry.declaration,
        entry.occurred_at as entry_occurred_at, event.id is null as is_dropped,
        encode(coalesce(entry.salt, case when entry.is_outcome then event.outcome_salt else event.intent_salt end),
          'hex') as salt,
        coalesce(sum(coalesce(octet_length(event.params::text), 0)) over (
          order by asked.turn, entry.position rows between unbounded preceding and 1 preceding), 0)::float8 as bytes_before,
        ${columns}, event.named_by_outcome, event.intent_member_id
      from json_to_recordset(${asked}::text::json)
        as asked(turn integer, chain_id bigint, position bigint, end_at bigint)
      cross join lateral (
        select position, chain, occurred_at, event_id, is_outcome, null::bytea as salt, null::jsonb as declaration
          from audit.entries where ${inRange}
        union all
        select position, chain, declared_at, null, false, salt, content::jsonb || jsonb_build_object('kind', kind)
          from audit.declarations where ${inRange}
      ) entry left join lateral (
        select * from audit.audit_events stored
        where stored.occurred_at = entry.occurred_at and stored.id = entry.event_id limit 1
      ) event on true
      where ${wanted}
      order by asked.turn, entry.position limit ${limit}`;
  const fits = found.filter(({ bytes_before }) => bytes_before < BATCH_BYTES_MAX);
  return { entries: fits.map(entryOf), isCut: fits.length < found.length };
}

function entryOf(row: FlatRow & NonNullable<EntryRow["event"]>): FoundEntry {
  const { chain_id, position, chain, is_outcome, salt, declaration, ...rest } = row;
  const { entry_occurred_at, is_dropped, bytes_before: _, ...event } = rest;
  const occurred_at = new Date(entry_occurred_at).toISOString();
  const entry = { chain_id, position, chain, is_outcome, salt, declaration, occurred_at };
  return { ...entry, event: is_dropped ? null : event };
}

/** Returns the entries up to the first position after `position` that has none. */
export function unbroken<Entry extends EntryRow>(entries: readonly Entry[], position: number): Entry[] {
  const gap = entries.findIndex((entry, index) => entry.position !== position + 1 + index);
  return entries.slice(0, gap < 0 ? undefined : gap);
}

/**
 * Returns the SQL condition of a filter. The outcome `pending` selects the entries of intents. Any other outcome, and a
 * `created_id`, select only entries of outcomes.
 */
function matches({ params, ...exact }: StreamFilter): SQL {
  const conditions = exactFilters.flatMap((name) => {
    const value = exact[name];
    if (value === undefined) return [];
    if (name === "outcome" && value === "pending") return [sql`not entry.is_outcome`];
    const isOfOutcome = name === "outcome" || name === "created_id";
    const equals = sql`event.${sql.identifier(name)} = ${value}`;
    return [isOfOutcome ? sql`(entry.is_outcome and ${equals})` : equals];
  });
  if (params !== undefined) conditions.push(sql`event.params @> ${JSON.stringify(params)}::text::jsonb`);
  return sql`entry.declaration is null and ${sql.join(conditions, sql` and `)}`;
}
