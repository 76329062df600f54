import type { Database } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { makePartitions } from "../../../apps/audit/events/partitions-sql.ts";

interface GeneratedLog {
  events: number;
  /** The time of the last event. */
  endMs: number;
  /** The time between the first and the last event. */
  spanMs: number;
}

/** The organization of about half of all events. */
export const BUSY_ORGANIZATION = "01J00000000000000000000ORG";
/** The person of about 5% of all events. */
export const BUSY_USER = "01J0000000000000000000USER";

const DAY_MS = 24 * 60 * 60 * 1000;
const CHUNK_EVENTS = 10_000;

/**
 * Fills the log with realistic events. Their times are spread evenly over `spanMs`, and ids sort by time.
 * Fields have common and rare values. The rare value `retired` occurs only in the oldest tenth of the events.
 */
export async function generateLog(database: Database, log: GeneratedLog): Promise<void> {
  for (let at = log.endMs - log.spanMs; at <= log.endMs + DAY_MS; at += 27 * DAY_MS) {
    await makePartitions(database, at);
  }
  for (let first = 0; first < log.events; first += CHUNK_EVENTS) {
    const last = Math.min(first + CHUNK_EVENTS, log.events) - 1;
    await database.run("generate_log", (orm) => orm.execute(chunk(log, first, last)));
  }
  for (const table of ["audit_events", "request_ids", "event_params"]) {
    await database.run("analyze", (orm) => orm.execute(sql`analyze audit.${sql.identifier(table)}`));
  }
}

/**
 * Returns SQL that maps the event number `n` to a pseudorandom integer less than `below`. The integer depends
 * only on `n` and `field`, so each run generates the same log.
 */
const pick = (field: number, below: number) =>
  sql.raw(`((hashint8extended(n, ${field}) & 1048575) % ${below})`);

/** Returns a SQL condition that selects one in `of` events among the oldest tenth. */
const seldom = (field: number, of: number) => sql`old and ${pick(field, of)} = 0`;

const chunk = ({ events, endMs, spanMs }: GeneratedLog, first: number, last: number) => sql`
  with numbered as materialized (
    select n, n < ${events}::bigint / 10 as old, ${pick(1, 20)} = 0 as of_user,
      (${endMs - spanMs}::float8 + n * (${spanMs}::float8 / ${events}))::bigint as ms
    from generate_series(${first}::bigint, ${last}::bigint) n
  ),
  made as materialized (
    select n, old, of_user,
      ${ulidTime(sql`ms`)} || upper(substr(md5(n::text), 1, 16)) as id,
      to_timestamp(ms / 1000.0) as occurred_at,
      'request-' || n as request_id,
      case when of_user then null when ${pick(2, 2)} = 0 then ${BUSY_ORGANIZATION}
        else 'organization-' || ${pick(3, 997)} end as organization_id,
      case when of_user then ${BUSY_USER} end as user_id,
      case when ${seldom(4, 3)} then 'retired' when ${pick(5, 7)} = 0 then 'common'
        else 'widget-' || ${pick(6, 9973)} end as widget_id,
      case when ${seldom(7, 13)} then 'pending' when ${pick(8, 10)} = 0 then 'rejected' else 'responded' end
        as outcome
    from numbered
  ),
  claimed as (
    insert into audit.request_ids (request_id, occurred_at, id) select request_id, occurred_at, id from made
  ),
  indexed as (
    insert into audit.event_params (log, pair, id, occurred_at)
    select case when of_user then 'user:' || user_id else 'organization:' || organization_id end,
      audit.param_pair('widget_id', widget_id), id, occurred_at
    from made
  )
  insert into audit.audit_events (
    id, occurred_at, request_id, organization_id, user_id, actor_member_id, actor_auth_type, actor_key_prefix,
    service, method, route, params, ip, user_agent, outcome, outcome_xid, outcome_salt, status, details, created_id)
  select id, occurred_at, request_id, organization_id, user_id,
    case when of_user then null when ${seldom(9, 5)} then 'retired' else 'member-' || ${pick(10, 53)} end,
    case when of_user then 'jwt' else 'member_apikey' end,
    case when not of_user then 'ostiary-k-2-abcd' end,
    case when ${seldom(11, 5)} then 'retired' else 'service-' || ${pick(12, 5)} end,
    case when ${seldom(13, 11)} then 'HEAD' when ${pick(14, 4)} = 0 then 'DELETE' else 'POST' end,
    case when ${seldom(15, 5)} then '/org/retired' else '/org/widgets-' || ${pick(16, 9)} end || '/{widget_id}',
    jsonb_build_object('widget_id', widget_id), '192.0.2.' || ${pick(17, 250)}, 'generator/1.0',
    outcome, case when outcome <> 'pending' then pg_current_xact_id() end,
    case when outcome <> 'pending' then audit.random_salt() end,
    case outcome when 'rejected' then 403 when 'responded' then 201 end, null,
    case when outcome = 'responded' and ${pick(18, 9)} = 0 then
      case when old then 'retired' else 'created-' || n end end
  from made`;

/** Returns SQL for the first ten characters of a ULID: the time in Crockford's Base32. */
function ulidTime(ms: ReturnType<typeof sql>) {
  const characters = Array.from(
    { length: 10 },
    (_, index) =>
      sql`substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((${ms} >> ${sql.raw(String(45 - 5 * index))}) & 31)::int + 1, 1)`,
  );
  return sql.join(characters, sql` || `);
}
