import type { UserEvent } from "@ostiary/lib/contracts/audit";
import { LIMIT_MAX } from "@ostiary/lib/runtime/http";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { type EventLog, type EventRow, eventOf } from "./event.ts";
import { type EventBounds, type EventFilter, exactFilters } from "./filter.ts";

const EXPORT_BATCH_ROWS = 200;

/**
 * The limits of the connections for reads. PostgreSQL plans each query for its actual parameter values. A generic
 * plan would assume narrow time bounds and sort whole months.
 */
export const readLimits = { poolMax: 8, plan_cache_mode: "force_custom_plan" } as const;

/**
 * Returns the newest matching events, at most {@link LIMIT_MAX} plus one. The extra event shows that another page
 * follows.
 */
export async function selectEvents(
  database: Database,
  filter: EventFilter,
  bounds: EventBounds,
): Promise<UserEvent[]> {
  // All page sizes share one limit, because the database keeps a plan for each text of a statement.
  const found = await query<EventRow>(database, "select_events")`
    ${selectStatement(filter, bounds)} limit ${sql.raw(String(LIMIT_MAX + 1))}`;
  return found.map(eventOf);
}

/** Streams all matching events as of one moment, newest first, in batches. */
export async function* streamEvents(
  database: Database,
  filter: EventFilter,
  bounds: EventBounds,
): AsyncGenerator<UserEvent[], void, void> {
  const statement = selectStatement(filter, bounds);
  for await (const found of database.stream<EventRow>("export_events", statement, EXPORT_BATCH_ROWS)) {
    yield found.map(eventOf);
  }
}

export const columns = sql.raw(
  `event.id, event.occurred_at, event.request_id, event.organization_id, event.user_id, event.actor_member_id,
  event.actor_auth_type, event.actor_key_prefix, event.service, event.method, event.route, event.params, event.ip,
  event.user_agent, event.outcome, event.status, event.details, event.created_id`,
);

/**
 * Returns the statement for the events of a filter, newest first. Each variant reads an index in the order of
 * the result, so a page costs the same anywhere in the log. Filters on a request id or on path params start
 * from the index table of these values. Other filters use an index on the field itself.
 */
export function selectStatement(filter: EventFilter, bounds: EventBounds): SQL {
  const conditions = sql.join(
    [logCondition(filter.log), ...within(sql`event`, bounds), ...matches(filter)],
    AND,
  );
  if (filter.exact.request_id !== undefined) {
    const entries = sql`select id, occurred_at from audit.request_ids
      where request_id = ${filter.exact.request_id}`;
    return eventsOf(entries, conditions);
  }
  if (filter.params.size > 0) return eventsOf(entriesOfRarestParam(filter, bounds), conditions);
  return sql`select ${columns} from audit.audit_events event where ${conditions} order by event.id desc`;
}

/**
 * Returns a query that joins rows of an index table to their events. `offset 0` makes the planner read the
 * rows in order and look up each event, instead of joining whole tables.
 */
function eventsOf(entries: SQL, conditions: SQL): SQL {
  return sql`select ${columns} from (${entries}) entry
    cross join lateral (
      select * from audit.audit_events event
      where event.occurred_at = entry.occurred_at and event.id = entry.id and ${conditions}
      offset 0
    ) event
    order by entry.id desc`;
}

/**
 * Returns a query for the index rows of the rarest param; the conditions on events check the other params. A param
 * with at most {@link LIMIT_MAX} rows counts as the rarest. If every param has more rows, the rarest is the one whose
 * newest {@link LIMIT_MAX} rows reach back furthest.
 */
function entriesOfRarestParam(filter: EventFilter, bounds: EventBounds): SQL {
  const log = `${filter.log.kind}:${filter.log.id}`;
  const pair = sql`audit.param_pair(wanted.key, wanted.value)`;
  const nthEntry = sql`
    select nth.id from audit.event_params nth
    where nth.log = ${log} and nth.pair = ${pair} and ${sql.join(within(sql`nth`, bounds), AND)}
    order by nth.id desc offset ${sql.raw(String(LIMIT_MAX))} limit 1`;
  return sql`
    select id, occurred_at from audit.event_params entry
    where log = ${log} and ${sql.join(within(sql`entry`, bounds), AND)} and pair = (
      select ${pair} from jsonb_each_text(${paramsJson(filter)}::text::jsonb) wanted
      order by (${nthEntry}) nulls first limit 1
    )`;
}

function paramsJson({ params }: EventFilter): string {
  return JSON.stringify(Object.fromEntries(params));
}

const AND = sql` and `;

export function logCondition({ kind, id }: EventLog): SQL {
  return kind === "organization" ? sql`event.organization_id = ${id}` : sql`event.user_id = ${id}`;
}

function within(table: SQL, bounds: EventBounds): SQL[] {
  return [
    sql`${table}.id >= ${bounds.idFrom}`,
    sql`${table}.id < ${bounds.idBefore}`,
    sql`${table}.occurred_at >= ${bounds.occurred_from}`,
    sql`${table}.occurred_at < ${bounds.occurred_before}`,
  ];
}

function matches(filter: EventFilter): SQL[] {
  const conditions: SQL[] = [];
  for (const name of exactFilters) {
    const value = filter.exact[name];
    if (value !== undefined) conditions.push(sql`event.${sql.identifier(name)} = ${value}`);
  }
  if (filter.params.size > 0) {
    conditions.push(sql`event.params @> ${paramsJson(filter)}::text::jsonb`);
  }
  return conditions;
}
