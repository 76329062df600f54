import { type Database, type Orm, query, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import type { ChainPlace } from "./batch.ts";
import { pauseFor } from "./lease-sql.ts";
import type { StreamFilter, StreamRow, UpdateStreamBody } from "./stream.ts";

export interface StreamAddress {
  organization_id: string;
  stream_id: string;
}

const shownColumns = sql`stream.id, stream.url, stream.format, stream.filter, stream.status, stream.failing_since,
  stream.last_error, stream.delivered_position, stream.delivered_occurred_at, stream.created_at, stream.updated_at,
  greatest(coalesce((select position from audit.chains where owner = 'organization:' || stream.organization_id), 0)
    - stream.position, 0)::bigint as lag_events`;

export function selectStreams(
  database: Database,
  organization_id: string,
  after: string | null,
  limit: number,
): Promise<StreamRow[]> {
  return query<StreamRow>(database, "list_streams")`
    select ${shownColumns} from audit.streams stream
      where organization_id = ${organization_id} and id > ${after ?? ""} order by id limit ${limit}`;
}

export async function selectStream(
  orm: Orm,
  address: StreamAddress,
  lock: SQL = sql``,
): Promise<StreamRow | null> {
  const [found] = await rows<StreamRow>(
    orm,
    sql`select ${shownColumns} from audit.streams stream where ${isAt(address)} ${lock}`,
  );
  return found ?? null;
}

/** Locks a stream until the transaction ends, and returns it. Returns null when the stream does not exist. */
export function lockStream(tx: Orm, address: StreamAddress): Promise<StreamRow | null> {
  return selectStream(tx, address, sql`for update`);
}

function isAt({ organization_id, stream_id }: StreamAddress): SQL {
  return sql`organization_id = ${organization_id} and id = ${stream_id}`;
}

/** Locks the creation of streams of an organization until the transaction ends. */
export async function lockStreams(tx: Orm, organization_id: string): Promise<void> {
  await rows(
    tx,
    sql`select pg_advisory_xact_lock(hashtextextended(${`audit.streams ${organization_id}`}, 0))`,
  );
}

export async function countStreams(tx: Orm, organization_id: string): Promise<number> {
  const [found] = await rows<{ count: number }>(
    tx,
    sql`select count(*) as count from audit.streams where organization_id = ${organization_id}`,
  );
  return found?.count ?? 0;
}

/** Where a new stream may begin. */
export interface StreamStart {
  /** The last position of the organization's chain; 0 without a chain. */
  end: number;
  /** The place before the asked entry, or `end` if there is no such entry. */
  position: number;
  /** The running hash there, in hexadecimal; null if that entry is missing from the log. */
  chain: string | null;
}

/** Finds the place before an entry of an organization's log: the entry at a position, or the first since a time. */
export async function selectStart(
  orm: Orm,
  organization_id: string,
  { position, time }: { position: number | null; time: string | null },
): Promise<StreamStart> {
  const [found] = await rows<StreamStart>(
    orm,
    sql`select log.position as "end", start.position, case when start.position = 0 then repeat('00', 32)
        else encode(coalesce(
          (select chain from audit.entries entry where entry.chain_id = log.id and entry.position = start.position),
          (select chain from audit.declarations entry where entry.chain_id = log.id
            and entry.position = start.position)), 'hex') end as chain
      from audit.chains log, lateral (select least(log.position, coalesce(${position === null ? null : String(position)}::text::bigint, (
          select min(entry.position) from audit.entries entry where entry.chain_id = log.id
            and entry.occurred_at >= ${time}::text::timestamptz)) - 1) as position) start
      where log.owner = ${`organization:${organization_id}`}`,
  );
  return found ?? { end: 0, position: 0, chain: "00".repeat(32) };
}

interface NewStream extends StreamAddress {
  url: string;
  format: string;
  filter: StreamFilter | null;
  secret: string;
  /** The place after which the stream begins. */
  start: ChainPlace;
}

export async function insertStream(tx: Orm, stream: NewStream): Promise<void> {
  const { start, filter } = stream;
  await rows(
    tx,
    sql`insert into audit.streams (id, organization_id, url, format, filter, secret, position, after_position, after_chain, pause_ms)
      values (${stream.stream_id}, ${stream.organization_id}, ${stream.url}, ${stream.format}, ${jsonText(filter)}::text::json,
        ${stream.secret}, ${String(start.position)}::text::bigint, ${String(start.position)}::text::bigint,
        decode(${start.chain}, 'hex'), 0)`,
  );
}

function jsonText(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Changes a stream. A stream that resumes, or that fails and gets another URL, continues at once. */
export async function updateStream(tx: Orm, address: StreamAddress, change: UpdateStreamBody): Promise<void> {
  const sets = [sql`updated_at = now()`];
  if (change.url !== undefined) sets.push(sql`url = ${change.url}`);
  if (change.format !== undefined) sets.push(sql`format = ${change.format}`);
  if (change.filter !== undefined) sets.push(sql`filter = ${jsonText(change.filter)}::text::json`);
  if (change.status === "paused") sets.push(sql`status = 'paused'`);
  else if (change.status === "active" || change.url !== undefined) {
    const status =
      change.status === "active"
        ? sql`'active'`
        : sql`case status when 'failing' then 'active' else status end`;
    sets.push(
      sql`status = ${status}, failing_since = null, failures = 0, failing_ms = 0, last_error = null,
        is_slow = false, ${pauseFor(0)}`,
    );
  }
  await rows(tx, sql`update audit.streams set ${sql.join(sets, sql`, `)} where ${isAt(address)}`);
}

export async function deleteStream(tx: Orm, address: StreamAddress): Promise<boolean> {
  const found = await rows(tx, sql`delete from audit.streams where ${isAt(address)} returning id`);
  return found.length > 0;
}

/** Replaces the secret. For `overlapS` seconds, the old secret also signs. */
export async function replaceSecret(
  tx: Orm,
  address: StreamAddress,
  secret: string,
  overlapS: number,
): Promise<void> {
  const kept = overlapS > 0;
  await rows(
    tx,
    sql`update audit.streams set updated_at = now(), secret = ${secret},
      previous_secret = ${kept ? sql`secret` : sql`null`},
      previous_secret_until = ${kept ? sql`clock_timestamp() + make_interval(secs => ${overlapS})` : sql`null`}
      where ${isAt(address)}`,
  );
}

/** The secrets that sign now, in encrypted form. */
export interface SecretRow {
  secret: string;
  /** The secret before the last rotation; null if there is none, or if its overlap has ended. */
  previous_secret: string | null;
}

export const SECRET_COLUMNS = sql.raw(
  "stream.secret, case when stream.previous_secret_until > clock_timestamp() then stream.previous_secret end as previous_secret",
);

/** Returns the fields of a stream that a test request needs. */
export async function selectForTest(
  database: Database,
  address: StreamAddress,
): Promise<(SecretRow & { id: string; url: string }) | null> {
  const [found] = await query<SecretRow & { id: string; url: string }>(database, "select_stream_for_test")`
    select stream.id, stream.url, ${SECRET_COLUMNS} from audit.streams stream where ${isAt(address)}`;
  return found ?? null;
}

/** Ends the pause of a failing stream, so that it is retried at once. */
export async function hastenStream(database: Database, stream_id: string): Promise<void> {
  await query(database, "hasten_stream")`
    update audit.streams set ${pauseFor(0)} where id = ${stream_id} and status = 'failing'`;
}
