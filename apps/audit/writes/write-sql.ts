import { randomBytes } from "node:crypto";
import type { AuditIntent, AuditOutcome } from "@ostiary/lib/contracts/audit";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import type { WriteResult } from "../write-results.ts";

interface IntentWrite {
  /** The ULID that the event gets if the log has no event with this `request_id` yet. Unused otherwise. */
  id: string;
  request_id: string;
  intent: AuditIntent;
}

export interface OutcomeWrite {
  request_id: string;
  outcome: AuditOutcome;
}

/**
 * The result of an outcome. `not_a_user_route`: the outcome names an organization, but the event is not in a
 * person's log.
 */
export type OutcomeResult = "applied" | "already_final" | "not_found" | "not_a_user_route";

/** The deadline of a write of events. The gateway waits half a second for an intent. */
const WRITE_MS = 450;
const WRITE = { deadlineMs: WRITE_MS };

/**
 * Writes the intents whose request id is new to the log, in one statement, and returns whether each was new. The
 * transaction that inserts a request id also writes the event. A second transaction with that id, on any replica,
 * waits for the commit and then finds the id. Ids are inserted in order, so that two groups cannot deadlock.
 */
export async function insertIntents(database: Database, writes: IntentWrite[]): Promise<WriteResult[]> {
  const given = JSON.stringify(withSalts(writes.map(intentRow)));
  const claimed = await query<{ id: string }>(database, "insert_intents", WRITE)`${insertStatement(given)}`;
  const created = new Set(claimed.map(({ id }) => id));
  return writes.map(({ id }) => (created.has(id) ? "created" : "existing"));
}

const SALT_BYTES = 16;

/**
 * Adds a salt in hexadecimal to each row. The salt hides the content of an entry from anyone who sees only its
 * hash.
 */
function withSalts<Row extends object>(written: Row[]): (Row & { salt: string })[] {
  const salts = randomBytes(SALT_BYTES * written.length);
  return written.map((row, index) => {
    const start = SALT_BYTES * index;
    return Object.assign(row, { salt: salts.toString("hex", start, start + SALT_BYTES) });
  });
}

function intentRow({ id, request_id, intent }: IntentWrite) {
  return {
    id,
    request_id,
    occurred_at: Temporal.Instant.from(intent.occurred_at).toString({ smallestUnit: "millisecond" }),
    organization_id: intent.organization_id,
    user_id: intent.user_id,
    actor_member_id: intent.actor.member_id,
    actor_auth_type: intent.actor.auth_type,
    actor_key_prefix: intent.actor.key_prefix,
    service: intent.service,
    method: intent.method,
    route: intent.route,
    params: intent.params,
    ip: intent.ip,
    user_agent: intent.user_agent,
  };
}

const insertStatement = (given: string) => sql`
  with given as materialized (
    select * from json_to_recordset(${given}::text::json) as given(
      id text, request_id text, occurred_at timestamptz, organization_id text, user_id text,
      actor_member_id text, actor_auth_type text, actor_key_prefix text,
      service text, method text, route text, params jsonb, ip text, user_agent text, salt text)
  ),
  claimed as (
    insert into audit.request_ids (request_id, occurred_at, id)
    select request_id, occurred_at, id from given order by request_id
    on conflict (request_id) do nothing
    returning id
  ),
  written as (
    insert into audit.audit_events (
      id, request_id, occurred_at, organization_id, user_id, actor_member_id, actor_auth_type,
      actor_key_prefix, service, method, route, params, ip, user_agent, intent_salt)
    select id, request_id, occurred_at, organization_id, user_id, actor_member_id, actor_auth_type,
      actor_key_prefix, service, method, route, params, ip, user_agent, decode(salt, 'hex')
    from given where id in (select id from claimed)
    order by id
  ),
  indexed as (
    insert into audit.event_params (log, pair, id, occurred_at)
    select logs.log, audit.param_pair(param.key, param.value), given.id, given.occurred_at
    from given
      cross join lateral jsonb_each_text(given.params) as param
      cross join lateral (
        values ('organization:' || given.organization_id), ('user:' || given.user_id)
      ) as logs(log)
    where given.id in (select id from claimed) and logs.log is not null
  )
  select id from claimed`;

/**
 * Applies each outcome to its event if the event is still pending, in one statement, and returns the results.
 * Events are locked in the order of their request ids before any is changed, so that groups with the same events
 * never deadlock.
 */
export async function applyOutcomes(database: Database, writes: OutcomeWrite[]): Promise<OutcomeResult[]> {
  const given = JSON.stringify(withSalts(writes.map(outcomeRow)));
  const found = await query<{ request_id: string; result: OutcomeResult }>(database, "apply_outcomes", WRITE)`
    ${applyStatement(given)}`;
  const results = new Map(found.map(({ request_id, result }) => [request_id, result]));
  return writes.map(({ request_id }) => results.get(request_id) ?? "not_found");
}

function outcomeRow({ request_id, outcome }: OutcomeWrite) {
  return {
    request_id,
    outcome: outcome.outcome,
    status: outcome.status,
    // a JSON text, not a nested value: PostgreSQL would interpret a nested value's escapes and refuse NUL
    details: outcome.details ? JSON.stringify(outcome.details) : null,
    created_id: outcome.created_id ?? null,
    organization_id: outcome.organization_id ?? null,
    actor_member_id: outcome.member_id ?? null,
  };
}

/**
 * Returns the statement for outcomes. The bounds on `request_id` include every valid id. Without the bounds, the
 * planner expects a hundred rows and scans the whole table while the table is small.
 */
const applyStatement = (given: string) => sql`
  with given as materialized (
    select * from json_to_recordset(${given}::text::json) as given(
      request_id text, outcome text, status smallint, details text, created_id text,
      organization_id text, actor_member_id text, salt text)
    where request_id >= '!' and request_id < '\x7f'
  ),
  target as materialized (
    select given.*, known.id, known.occurred_at, known.request_id as lock_order
    from given join audit.request_ids known using (request_id)
  ),
  locked as materialized (
    select target.*, event.outcome = 'pending' as pending,
      target.organization_id is null or (event.user_id is not null and event.organization_id is null) as allowed
    from target join audit.audit_events event
      on event.id = target.id and event.occurred_at = target.occurred_at
    order by target.lock_order
    for no key update of event
  ),
  applied as (
    update audit.audit_events event set
      outcome = locked.outcome,
      status = locked.status,
      details = locked.details::json,
      created_id = locked.created_id,
      outcome_salt = decode(locked.salt, 'hex'),
      organization_id = coalesce(locked.organization_id, event.organization_id),
      actor_member_id = coalesce(locked.actor_member_id, event.actor_member_id)
    from locked
    where event.id = locked.id and event.occurred_at = locked.occurred_at and locked.pending and locked.allowed
    returning event.id, event.occurred_at, event.params, locked.organization_id as named
  ),
  indexed as (
    insert into audit.event_params (log, pair, id, occurred_at)
    select 'organization:' || applied.named, audit.param_pair(param.key, param.value), applied.id,
      applied.occurred_at
    from applied cross join lateral jsonb_each_text(applied.params) as param
    where applied.named is not null
  )
  select request_id,
    case when not pending then 'already_final' when allowed then 'applied' else 'not_a_user_route' end as result
  from locked`;
