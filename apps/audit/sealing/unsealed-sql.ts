import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { compare } from "../compare.ts";
import { columns } from "../events/sql.ts";
import { IS_SET_ASIDE } from "./altered-sql.ts";
import type { UnsealedRow } from "./entries.ts";
import { type SealWindow, snapshotText } from "./snapshot.ts";

/**
 * Returns the id of the first transaction that a pass should leave to the next pass. From `xid` (inclusive) to that
 * transaction (exclusive), there are at most `entries` intents and at most `entries` outcomes. Returns null if one
 * pass can take everything from `xid` on.
 */
export async function selectBound(database: Database, xid: bigint, entries: number): Promise<bigint | null> {
  const nth = (column: SQL, table: SQL) => sql`
    select ${column}::text as xid from ${table}
    where ${column} >= ${String(xid)}::text::xid8 order by ${column} offset ${sql.raw(String(entries))} limit 1`;
  const intents = nth(sql`xid`, sql`audit.request_ids`);
  const outcomes = nth(sql`outcome_xid`, sql`audit.audit_events`);
  const found = await query<{ xid: string }>(database, "select_seal_bound")`
    (${intents}) union all (${outcomes})`;
  const [least] = found.map((row) => BigInt(row.xid)).toSorted(compare);
  return least ?? null;
}

/**
 * Whether `audit.request_ids` has a row for the event. The service writes that row in the same statement as the
 * event.
 */
export const CLAIMED = sql`exists (select from audit.request_ids known
    where known.request_id = event.request_id and known.id = event.id)`;

/** The columns of an event that its entries need. */
export const storedColumns = sql`${columns},
  event.intent_xid::text as intent_xid, event.outcome_xid::text as outcome_xid,
  encode(event.intent_salt, 'hex') as intent_salt, encode(event.outcome_salt, 'hex') as outcome_salt,
  event.named_by_outcome, event.intent_member_id`;

const unsealedColumns = sql`${storedColumns}, ${CLAIMED} as claimed`;

/** Returns the condition that the transaction in `column` belongs to a window. */
function writtenIn({ late, from, before, now }: SealWindow, column: SQL): SQL {
  const xids = `{${late.join(",")}}`;
  return sql`(
    (${column} >= ${String(from)}::text::xid8 and ${column} < ${String(before)}::text::xid8
      or ${column} = any (${xids}::text::xid8[]))
    and pg_visible_in_snapshot(${column}, ${snapshotText(now)}::text::pg_snapshot))`;
}

/**
 * Returns a FROM clause for the events that the transactions of a window wrote. The alias `event` is the
 * stored row. The alias `due` says which parts the window includes: `is_intent`, `is_outcome` or both. The
 * lateral join makes the planner read each event by its key, whatever row count it estimates.
 */
export function eventsOf(window: SealWindow): SQL {
  return sql`(
    select id, occurred_at, bool_or(is_intent) as is_intent, bool_or(not is_intent) as is_outcome
    from (
      select known.id, known.occurred_at, true as is_intent from audit.request_ids known
      where ${writtenIn(window, sql`known.xid`)}
      union all
      select event.id, event.occurred_at, false from audit.audit_events event
      where ${writtenIn(window, sql`event.outcome_xid`)}
    ) written
    group by id, occurred_at
  ) due cross join lateral (
    select * from audit.audit_events stored where stored.id = due.id and stored.occurred_at = due.occurred_at limit 1
  ) event`;
}

/** Returns the events that the transactions of a window wrote. */
export function selectWindow(database: Database, window: SealWindow): Promise<UnsealedRow[]> {
  return selectUnsealed(database, {
    from: eventsOf(window),
    intent: sql`due.is_intent`,
    outcome: sql`due.is_outcome`,
  });
}

/**
 * Returns at most `limit` events of the whole log that lack an entry. Used when the marks cannot tell which events
 * are sealed: after a restore, when transaction numbers start again, and after somebody changed the marks.
 */
export function selectAnyUnsealed(database: Database, limit: number): Promise<UnsealedRow[]> {
  const intent = sql`(${CLAIMED} and ${hasNoEntry(false)})`;
  const outcome = sql`(event.outcome <> 'pending' and ${CLAIMED} and ${hasNoEntry(true)})`;
  const from = sql`audit.audit_events event where (${intent} or ${outcome}) and not (${IS_SET_ASIDE})
    limit ${sql.raw(String(limit))}`;
  return selectUnsealed(database, { from, intent, outcome });
}

/**
 * Returns the condition that an intent or an outcome has no entry. The transaction number cannot show this, because
 * a restored database may reuse numbers.
 */
function hasNoEntry(is_outcome: boolean, chain_id?: SQL): SQL {
  return sql`not exists (select from audit.entries entry
    where entry.event_id = event.id and entry.is_outcome = ${sql.raw(String(is_outcome))}
      ${chain_id === undefined ? sql`` : sql`and entry.chain_id = ${chain_id}`})`;
}

/**
 * Returns the events that the snapshot `sealed_to` includes but the owner's chain lacks, in the order in which they
 * were written.
 */
export function selectUnsealedOf(
  database: Database,
  owner: string,
  sealed_to: string,
  limit: number,
): Promise<UnsealedRow[]> {
  const separator = owner.indexOf(":");
  const id = owner.slice(separator + 1);
  const isInLog =
    owner.slice(0, separator) === "organization"
      ? sql`event.organization_id = ${id}`
      : sql`event.user_id = ${id}`;
  const chain = sql`(select known.id from audit.chains known where known.owner = ${owner})`;
  const seen = (xid: SQL) =>
    sql`coalesce(pg_visible_in_snapshot(${xid}, ${sealed_to}::text::pg_snapshot), true)`;
  const intent = sql`(${seen(sql`event.intent_xid`)} and ${hasNoEntry(false, chain)})`;
  const outcome = sql`(event.outcome <> 'pending' and ${seen(sql`event.outcome_xid`)} and ${hasNoEntry(true, chain)})`;
  return query<UnsealedRow>(database, "select_unsealed_of")`
    select ${unsealedColumns}, ${intent} as intent_due, ${outcome} as outcome_due
      from audit.audit_events event where ${isInLog} and ${CLAIMED} and (${intent} or ${outcome})
      order by coalesce(event.intent_xid, '0'::xid8), event.id limit ${sql.raw(String(limit))}`;
}

/**
 * Matches events whose row was inserted with its outcome already set, as an import may do; the audit service never
 * does. The sealer then seals intent and outcome together.
 */
const INSERTED_FINAL = sql.raw("event.outcome <> 'pending' and event.outcome_xid is null");

interface Unsealed {
  /** The FROM clause, with a WHERE clause if one is needed. Events have the alias `event`. */
  from: SQL;
  /** The SQL condition that the pass must seal the intent of an event. */
  intent: SQL;
  /** The SQL condition that the pass must seal the outcome of an event. */
  outcome: SQL;
}

function selectUnsealed(database: Database, { from, intent, outcome }: Unsealed): Promise<UnsealedRow[]> {
  return query<UnsealedRow>(database, "select_unsealed")`
    select ${unsealedColumns},
        coalesce(${intent}, false) and ${hasNoEntry(false)} as intent_due,
        (coalesce(${outcome}, false) or coalesce(${intent}, false) and ${INSERTED_FINAL})
          and ${hasNoEntry(true)} as outcome_due
      from ${from}`;
}
