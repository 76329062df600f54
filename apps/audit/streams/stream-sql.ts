import { notFound } from "@ostiary/lib/domain/errors";
import type { HexHash } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, query, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { bigint } from "../bigint-sql.ts";
import type { ChainPosition } from "./entry.ts";
import { HEALED, pauseFor } from "./lease-sql.ts";
import { SECRET_COLUMNS, type SecretRow } from "./secret-sql.ts";
import type { AuditStream, StreamFilter, UpdateStreamBody } from "./stream.ts";

export interface StreamAddress {
  organization_id: string;
  stream_id: string;
}

function addressCondition({ organization_id, stream_id }: StreamAddress): SQL {
  return sql`organization_id = ${organization_id} and id = ${stream_id}`;
}

/** Returns SQL for a time as RFC 3339 with milliseconds. */
const shownTime = (column: string) =>
  sql.raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);

const shownColumns = sql`stream.id, stream.url, stream.format, stream.filter, stream.status, stream.last_error,
  ${shownTime("stream.failing_since")} as failing_since,
  case when stream.delivered_position is not null then json_build_object('position', stream.delivered_position,
    'occurred_at', ${shownTime("stream.delivered_occurred_at")}) end as last_delivered,
  ${shownTime("stream.created_at")} as created_at, ${shownTime("stream.updated_at")} as updated_at,
  greatest(coalesce((select position from audit.chains where owner = 'organization:' || stream.organization_id), 0)
    - stream.position, 0)::bigint as lag_events`;

/** Returns at most `limit` streams of an organization after an id, the oldest first. */
export function listStreams(
  database: Database,
  organization_id: string,
  after: string | null,
  limit: number,
): Promise<AuditStream[]> {
  return query<AuditStream>(database, "list_streams")`
    select ${shownColumns} from audit.streams stream
      where organization_id = ${organization_id} and id > ${after ?? ""} order by id limit ${limit}`;
}

/**
 * Reads a stream.
 *
 * @throws ApiError 404 if the organization has no such stream
 */
export async function selectStream(
  orm: Orm,
  address: StreamAddress,
  lock: SQL = sql``,
): Promise<AuditStream> {
  const [found] = await rows<AuditStream>(
    orm,
    sql`select ${shownColumns} from audit.streams stream where ${addressCondition(address)} ${lock}`,
  );
  if (found === undefined) throw notFound("stream", address.stream_id);
  return found;
}

/** Reads a stream and locks it until the transaction ends. */
export function lockStream(tx: Orm, address: StreamAddress): Promise<AuditStream> {
  return selectStream(tx, address, sql`for update`);
}

/** Locks the creation of streams of an organization until the transaction ends. */
export async function lockCreation(tx: Orm, organization_id: string): Promise<void> {
  const lock = `audit.streams ${organization_id}`;
  await rows(tx, sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`);
}

/** Reports whether an organization has at least `count` streams. */
export async function hasStreams(tx: Orm, organization_id: string, count: number): Promise<boolean> {
  const found = await rows(
    tx,
    sql`select from audit.streams where organization_id = ${organization_id} limit ${count}`,
  );
  return found.length === count;
}

interface StreamStart {
  /** The id of the organization's chain. */
  chain_id: number;
  /** The last position of the organization's chain. */
  end: number;
  /** The position before the requested entry, or `end` if there is no such entry. */
  position: number;
  /** The running hash there; null if that entry is missing from the log. */
  chain: HexHash | null;
}

/**
 * Returns the position before the entry at `position`, or else before the first entry that occurred at `time` or later.
 */
export async function selectStart(
  tx: Orm,
  organization_id: string,
  position: string | null,
  time: string | null,
): Promise<StreamStart> {
  const [start = { chain_id: 0, end: 0, position: 0, chain: "00".repeat(32) }] = await rows<StreamStart>(
    tx,
    sql`select log.id as chain_id, log.position as "end", start.position, case when start.position = 0 then repeat('00', 32)
        else encode(coalesce(
          (select chain from audit.entries entry where entry.chain_id = log.id and entry.position = start.position),
          (select chain from audit.declarations entry where entry.chain_id = log.id
            and entry.position = start.position)), 'hex') end as chain
      from audit.chains log, lateral (select least(log.position, coalesce(${position}::text::bigint, (
          select min(entry.position) from audit.entries entry where entry.chain_id = log.id
            and entry.occurred_at >= ${time}::text::timestamptz)) - 1) as position) start
      where log.owner = ${`organization:${organization_id}`}`,
  );
  return start;
}

interface NewStream {
  url: string;
  format: AuditStream["format"];
  filter: StreamFilter | null;
  /** The secret that signs, in encrypted form. */
  secret: string;
  /** The position after which the stream begins. */
  start: ChainPosition;
}

export async function insertStream(
  tx: Orm,
  { organization_id, stream_id }: StreamAddress,
  { url, format, filter, secret, start }: NewStream,
): Promise<void> {
  const position = bigint(start.position);
  await rows(
    tx,
    sql`insert into audit.streams (id, organization_id, url, format, filter, secret, position, after_position,
        after_chain, pause_ms)
      values (${stream_id}, ${organization_id}, ${url}, ${format}, ${jsonText(filter)}::text::json, ${secret}, ${position},
        ${position}, decode(${start.chain}, 'hex'), 0)`,
  );
}

function jsonText(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Writes the fields that the change names. Resets the failures of a stream that resumes or gets another URL. */
export async function updateStream(
  tx: Orm,
  address: StreamAddress,
  { url, format, filter, status }: UpdateStreamBody,
): Promise<void> {
  const sets = [sql`updated_at = now()`];
  if (url !== undefined) sets.push(sql`url = ${url}`);
  if (format !== undefined) sets.push(sql`format = ${format}`);
  if (filter !== undefined) sets.push(sql`filter = ${jsonText(filter)}::text::json`);
  if (status === "paused") sets.push(sql`status = 'paused'`);
  else if (status === "active" || url !== undefined) {
    sets.push(
      sql`status = case when status = 'failing' or ${status === "active"}::boolean then 'active' else status end,
        ${HEALED}, is_slow = null, ${pauseFor(0)}`,
    );
  }
  await rows(tx, sql`update audit.streams set ${sql.join(sets, sql`, `)} where ${addressCondition(address)}`);
}

/** Removes a stream. Returns false if the organization has no such stream. */
export async function deleteStream(database: Database, address: StreamAddress): Promise<boolean> {
  const found = await query(
    database,
    "delete_stream",
  )`delete from audit.streams where ${addressCondition(address)} returning id`;
  return found.length > 0;
}

/** Replaces the secret of a stream. The old secret also signs for `overlapS` seconds. */
export async function updateSecret(
  tx: Orm,
  address: StreamAddress,
  secret: string,
  overlapS: number,
): Promise<void> {
  const previous =
    overlapS === 0
      ? sql`previous_secret = null, previous_secret_until = null`
      : sql`previous_secret = secret,
          previous_secret_until = clock_timestamp() + make_interval(secs => ${overlapS})`;
  await rows(
    tx,
    sql`update audit.streams set updated_at = now(), secret = ${secret}, ${previous} where ${addressCondition(address)}`,
  );
}

/** The address of a stream's receiver, and the secrets that sign. */
type StreamReceiver = SecretRow & { id: string; url: string };

/**
 * Reads the receiver of a stream.
 *
 * @throws ApiError 404 if the organization has no such stream
 */
export async function selectReceiver(database: Database, address: StreamAddress): Promise<StreamReceiver> {
  const [found] = await query<StreamReceiver>(database, "select_stream_for_test")`
    select stream.id, stream.url, ${SECRET_COLUMNS} from audit.streams stream where ${addressCondition(address)}`;
  if (found === undefined) throw notFound("stream", address.stream_id);
  return found;
}

/** Ends the pause of a failing stream, so that it is retried at once. */
export async function endPause(database: Database, { stream_id }: StreamAddress): Promise<void> {
  await query(database, "end_stream_pause")`
    update audit.streams set ${pauseFor(0)} where id = ${stream_id} and status = 'failing'`;
}
