import type { Clock } from "@ostiary/lib/async";
import { ApiError, notFound, validationError } from "@ostiary/lib/domain/errors";
import { parseTime } from "@ostiary/lib/domain/schemas";
import { type Database, type Orm, query, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { ulid } from "ulid";
import { bigint } from "../bigint-sql.ts";
import { urlWithoutQuery } from "../receivers/targets.ts";
import type { ChainPlace } from "./entry.ts";
import { pauseFor } from "./lease-sql.ts";
import { SECRET_COLUMNS, type SecretRow } from "./secret-sql.ts";
import { newSecret, type SecretBox } from "./secrets.ts";
import {
  type AuditStream,
  type AuditStreamWithSecret,
  type CreateStreamBody,
  STREAMS_MAX,
  type StreamFilter,
  streamsOff,
  tooManyStreams,
  type UpdateStreamBody,
} from "./stream.ts";

export interface StreamCommandDeps {
  writes: Database;
  /** Null if AUDIT_STREAM_KEY_FILE is not set. */
  secrets: SecretBox | null;
  clock: Clock;
}

export interface StreamAddress {
  organization_id: string;
  stream_id: string;
}

function isAt({ organization_id, stream_id }: StreamAddress): SQL {
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
export function readStream({ writes }: StreamCommandDeps, address: StreamAddress): Promise<AuditStream> {
  return writes.run("select_stream", (orm) => selectStream(orm, address));
}

async function selectStream(orm: Orm, address: StreamAddress, lock: SQL = sql``): Promise<AuditStream> {
  const [found] = await rows<AuditStream>(
    orm,
    sql`select ${shownColumns} from audit.streams stream where ${isAt(address)} ${lock}`,
  );
  if (found === undefined) throw notFound("stream", address.stream_id);
  return found;
}

/** Creates a stream with a secret of its own (AU-92, AU-95). */
export async function createStream(
  deps: StreamCommandDeps,
  organization_id: string,
  body: CreateStreamBody,
): Promise<AuditStreamWithSecret> {
  const stream_id = ulid(deps.clock.now());
  const secret = newSecret();
  const sealed = secretsOf(deps).seal(secret, stream_id);
  const { url, format = "ostiary" } = body;
  const filter = jsonText(filterOf(body.filter));
  const row = await deps.writes.transaction(
    "create_stream",
    async (tx) => {
      await refuseTooMany(tx, organization_id);
      const { position, chain } = await startPlace(tx, organization_id, body);
      const place = bigint(position);
      await rows(
        tx,
        sql`insert into audit.streams (id, organization_id, url, format, filter, secret, position, after_position,
            after_chain, pause_ms)
          values (${stream_id}, ${organization_id}, ${url}, ${format}, ${filter}::text::json, ${sealed}, ${place}, ${place},
            decode(${chain}, 'hex'), 0)`,
      );
      return selectStream(tx, { organization_id, stream_id });
    },
    { lane: `streams of ${organization_id}` },
  );
  return { ...row, secret };
}

/**
 * Returns the box that encrypts secrets.
 *
 * @throws ApiError 409 if the service has no key for secrets
 */
export function secretsOf({ secrets }: Pick<StreamCommandDeps, "secrets">): SecretBox {
  if (secrets !== null) return secrets;
  throw new ApiError(streamsOff.code, streamsOff);
}

/** Returns the filter, or null for a filter without conditions. */
function filterOf(filter: StreamFilter | null | undefined): StreamFilter | null {
  if (!filter) return null;
  const { params, ...exact } = filter;
  const some = params === undefined || Object.keys(params).length === 0 ? exact : { ...exact, params };
  return Object.keys(some).length === 0 ? null : some;
}

function jsonText(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Locks the creation of streams of an organization until the transaction ends. Throws if no stream may be added. */
async function refuseTooMany(tx: Orm, organization_id: string): Promise<void> {
  const lock = `audit.streams ${organization_id}`;
  await rows(tx, sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`);
  const found = await rows(
    tx,
    sql`select from audit.streams where organization_id = ${organization_id} limit ${STREAMS_MAX}`,
  );
  if (found.length === STREAMS_MAX) throw new ApiError(tooManyStreams.code, tooManyStreams);
}

/** Returns the place after which a new stream begins: the end of the log, or before the requested entry. */
async function startPlace(
  tx: Orm,
  organization_id: string,
  { from_position, from_time }: CreateStreamBody,
): Promise<ChainPlace> {
  const position = from_position === undefined ? null : String(from_position);
  const time = from_time === undefined ? null : (parseTime(from_time)?.toString() ?? null);
  const [start = { end: 0, position: 0, chain: "00".repeat(32) }] = await rows<{
    /** The last position of the organization's chain. */
    end: number;
    /** The position before the asked entry, or `end` if there is no such entry. */
    position: number;
    /** The running hash there, in hexadecimal; null if that entry is missing from the log. */
    chain: string | null;
  }>(
    tx,
    sql`select log.position as "end", start.position, case when start.position = 0 then repeat('00', 32)
        else encode(coalesce(
          (select chain from audit.entries entry where entry.chain_id = log.id and entry.position = start.position),
          (select chain from audit.declarations entry where entry.chain_id = log.id
            and entry.position = start.position)), 'hex') end as chain
      from audit.chains log, lateral (select least(log.position, coalesce(${position}::text::bigint, (
          select min(entry.position) from audit.entries entry where entry.chain_id = log.id
            and entry.occurred_at >= ${time}::text::timestamptz)) - 1) as position) start
      where log.owner = ${`organization:${organization_id}`}`,
  );
  const { end, chain } = start;
  if (from_position !== undefined && from_position > end + 1) {
    const message = `from_position must be at most ${end + 1}, the next position of the log.`;
    throw validationError([{ path: "from_position", message }]);
  }
  if (chain === null)
    throw new Error("An entry of the log is missing before the place where a stream begins.");
  return { position: start.position, chain };
}

type Details = Record<string, { from: unknown; to: unknown }>;

/**
 * Changes a stream. A stream that resumes, or that fails and gets another URL, continues at once. The change does not
 * affect a delivery request in flight.
 */
export async function changeStream(
  deps: StreamCommandDeps,
  address: StreamAddress,
  { url, format, filter, status }: UpdateStreamBody,
): Promise<{ stream: AuditStream; details: Details }> {
  const sets = [sql`updated_at = now()`];
  if (url !== undefined) sets.push(sql`url = ${url}`);
  if (format !== undefined) sets.push(sql`format = ${format}`);
  if (filter !== undefined) sets.push(sql`filter = ${jsonText(filterOf(filter))}::text::json`);
  if (status === "paused") sets.push(sql`status = 'paused'`);
  else if (status === "active" || url !== undefined) {
    sets.push(
      sql`status = case when status = 'failing' or ${status === "active"}::boolean then 'active' else status end,
        failing_since = null, failures = 0, failing_ms = 0, last_error = null, is_slow = null, ${pauseFor(0)}`,
    );
  }
  return deps.writes.transaction("update_stream", async (tx) => {
    const before = await selectStream(tx, address, sql`for update`);
    await rows(tx, sql`update audit.streams set ${sql.join(sets, sql`, `)} where ${isAt(address)}`);
    const after = await selectStream(tx, address);
    return { stream: after, details: detailsOf(before, after) };
  });
}

function detailsOf(before: AuditStream, after: AuditStream): Details {
  const names = ["url", "format", "filter", "status"] as const;
  const shown = (row: AuditStream, name: (typeof names)[number]) =>
    name === "url" ? urlWithoutQuery(row.url) : row[name];
  return Object.fromEntries(
    names
      .filter((name) => !Bun.deepEquals(before[name], after[name]))
      .map((name) => [name, { from: shown(before, name), to: shown(after, name) }]),
  );
}

export async function removeStream({ writes }: StreamCommandDeps, address: StreamAddress): Promise<void> {
  const found = await query(
    writes,
    "delete_stream",
  )`delete from audit.streams where ${isAt(address)} returning id`;
  if (found.length === 0) throw notFound("stream", address.stream_id);
}

/** Replaces the secret of a stream. The old secret also signs until the overlap ends (AU-97). */
export async function rotateSecret(
  deps: StreamCommandDeps,
  address: StreamAddress,
  overlapS: number,
): Promise<AuditStreamWithSecret> {
  const secret = newSecret();
  const sealed = secretsOf(deps).seal(secret, address.stream_id);
  const previous =
    overlapS === 0
      ? sql`previous_secret = null, previous_secret_until = null`
      : sql`previous_secret = secret,
          previous_secret_until = clock_timestamp() + make_interval(secs => ${overlapS})`;
  const row = await deps.writes.transaction("rotate_stream_secret", async (tx) => {
    await rows(
      tx,
      sql`update audit.streams set updated_at = now(), secret = ${sealed}, ${previous} where ${isAt(address)}`,
    );
    return selectStream(tx, address);
  });
  return { ...row, secret };
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
    select stream.id, stream.url, ${SECRET_COLUMNS} from audit.streams stream where ${isAt(address)}`;
  if (found === undefined) throw notFound("stream", address.stream_id);
  return found;
}

/** Ends the pause of a failing stream, so that it is retried at once. */
export async function hastenStream(database: Database, { stream_id }: StreamAddress): Promise<void> {
  await query(database, "hasten_stream")`
    update audit.streams set ${pauseFor(0)} where id = ${stream_id} and status = 'failing'`;
}
