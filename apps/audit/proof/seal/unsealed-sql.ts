import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { columns, logCondition } from "../../events/event-sql.ts";
import { compare, ownersOf, type UnsealedRow } from "./entries.ts";
import { type SealWindow, snapshotText } from "./snapshot.ts";

/**
 * Returns the id of the first transaction that a pass should leave to the next pass. From `xid` (inclusive) to that
 * transaction (exclusive), there are at most `entries` intents and at most `entries` outcomes. Returns null if one
 * pass can take everything from `xid` on.
 */
export async function selectBound(orm: Orm, xid: bigint, entries: number): Promise<bigint | null> {
  const nth = (column: SQL, table: SQL) => sql`
    select ${column}::text as xid from ${table}
    where ${column} >= ${String(xid)}::text::xid8 order by ${column} offset ${sql.raw(String(entries))} limit 1`;
  const intents = nth(sql`xid`, sql`audit.request_ids`);
  const outcomes = nth(sql`outcome_xid`, sql`audit.audit_events`);
  const found = await rows<{ xid: string }>(orm, sql`(${intents}) union all (${outcomes})`);
  const [least] = found.map((row) => BigInt(row.xid)).toSorted(compare);
  return least ?? null;
}

/**
 * Whether `audit.request_ids` has a row for the event. The service writes that row in the same statement as the
 * event.
 */
export const CLAIMED = sql`exists (select from audit.request_ids known
    where known.request_id = event.request_id and known.id = event.id offset 0)`;

const isOpen = (id: SQL, kind: "user" | "organization") => sql`(${id} is not null and not exists (
  select from audit.altered_chains known where known.owner = ${sql.raw(`'${kind}:'`)} || ${id}))`;

/** The condition that an event belongs to a log that is not left out. */
export const OPEN = sql`(${isOpen(sql`event.user_id`, "user")} or ${isOpen(sql`event.organization_id`, "organization")})`;

/** The columns of an event that its entries need. */
export const storedColumns = sql`${columns},
  event.intent_xid::text as intent_xid, event.outcome_xid::text as outcome_xid,
  encode(event.intent_salt, 'hex') as intent_salt, encode(event.outcome_salt, 'hex') as outcome_salt,
  event.named_by_outcome, event.intent_member_id`;

/** The entries that an event has in any chain, such as `7i,7o`; null for none. */
const SEALED_IN = sql`(select string_agg(entry.chain_id::text || case when entry.is_outcome then 'o' else 'i' end, ',')
  from audit.entries entry where entry.event_id = event.id)`;

/** Returns the condition that the transaction in `column` belongs to a window. */
function writtenIn({ late, from, before, now }: SealWindow, column: SQL): SQL {
  const xids = `{${late.join(",")}}`;
  return sql`(
    (${column} >= ${String(from)}::text::xid8 and ${column} < ${String(before)}::text::xid8
      or ${column} = any (${xids}::text::xid8[]))
    and pg_visible_in_snapshot(${column}, ${snapshotText(now)}::text::pg_snapshot))`;
}

/** An event that the transactions of a window wrote, and which parts of it. */
export interface DueEvent {
  id: string;
  occurred_at: string;
  is_intent: boolean;
  is_outcome: boolean;
}

/** Returns a query for the {@link DueEvent}s of a window. */
function dueOf(window: SealWindow): SQL {
  return sql`select id, occurred_at, bool_or(is_intent) as is_intent, bool_or(not is_intent) as is_outcome
    from (
      select known.id, known.occurred_at, true as is_intent from audit.request_ids known
      where ${writtenIn(window, sql`known.xid`)}
      union all
      select event.id, event.occurred_at, false from audit.audit_events event
      where ${writtenIn(window, sql`event.outcome_xid`)}
    ) written
    group by id, occurred_at`;
}

/**
 * Returns a FROM clause for due events. The alias `event` is the stored row. The lateral join makes the planner read
 * each event by its key, whatever row count it estimates.
 */
function withRows(due: SQL): SQL {
  return sql`(${due}) due cross join lateral (
    select * from audit.audit_events stored where stored.id = due.id and stored.occurred_at = due.occurred_at limit 1
  ) event`;
}

/** Returns a FROM clause for the events that the transactions of a window wrote, with the alias `event`. */
export const eventsOf = (window: SealWindow): SQL => withRows(dueOf(window));

export function selectDue(orm: Orm, window: SealWindow): Promise<DueEvent[]> {
  return rows<DueEvent>(orm, dueOf(window));
}

/**
 * Returns the events that the transactions of a window wrote and that satisfy a condition, except the events with these
 * ids. Reads the content of no other event, which may be unreadable.
 */
export function selectWindow(
  orm: Orm,
  window: SealWindow,
  condition: SQL,
  except: ReadonlySet<string> = new Set(),
): Promise<UnsealedRow[]> {
  const left = JSON.stringify([...except]);
  const due =
    except.size === 0
      ? dueOf(window)
      : sql`select * from (${dueOf(window)}) found
          where id not in (select json_array_elements_text(${left}::text::json))`;
  return selectDueRows(orm, due, condition);
}

/** Returns the owners of an event. Reads none of its other columns. */
export async function selectOwners(orm: Orm, { id, occurred_at }: DueEvent): Promise<string[]> {
  const found = await rows<{ user_id: string | null; organization_id: string | null }>(
    orm,
    sql`select user_id, organization_id from audit.audit_events
      where id = ${id} and occurred_at = ${occurred_at}::text::timestamptz`,
  );
  return found.flatMap(ownersOf);
}

export function selectEach(
  orm: Orm,
  due: readonly DueEvent[],
  condition: SQL = sql`true`,
): Promise<UnsealedRow[]> {
  const given = sql`select * from json_to_recordset(${JSON.stringify(due)}::text::json)
    as given(id text, occurred_at timestamptz, is_intent boolean, is_outcome boolean)`;
  return selectDueRows(orm, given, condition);
}

/** Returns the condition that an event belongs to the log of an owner. */
export function logOf(owner: string): SQL {
  const id = owner.slice(owner.indexOf(":") + 1);
  return logCondition({ kind: owner.startsWith("organization:") ? "organization" : "user", id });
}

/**
 * Returns a FROM clause for at most `limit` events of an owner's log with ids above `after`, in the order of their ids.
 */
function logPage(owner: string, after: string, limit: number): SQL {
  return sql`audit.audit_events event where ${logOf(owner)} and event.id > ${after} and ${CLAIMED}
    order by event.id limit ${sql.raw(String(limit))}`;
}

export function selectLogPage(orm: Orm, ...page: Parameters<typeof logPage>): Promise<UnsealedRow[]> {
  return selectRows(orm, logPage(...page), sql`true`, sql`event.outcome <> 'pending'`);
}

/** Returns the events of a page of a log without their content, which may be unreadable. */
export function selectLogEvents(orm: Orm, ...page: Parameters<typeof logPage>): Promise<DueEvent[]> {
  return rows<DueEvent>(
    orm,
    sql`select event.id, event.occurred_at, true as is_intent, true as is_outcome from ${logPage(...page)}`,
  );
}

function selectDueRows(orm: Orm, due: SQL, condition: SQL): Promise<UnsealedRow[]> {
  return selectRows(orm, sql`${withRows(due)} where ${condition}`, sql`due.is_intent`, sql`due.is_outcome`);
}

function selectRows(orm: Orm, from: SQL, intent: SQL, outcome: SQL): Promise<UnsealedRow[]> {
  return rows<UnsealedRow>(
    orm,
    sql`select ${storedColumns}, ${intent} as intent_due, ${outcome} as outcome_due, ${SEALED_IN} as sealed_in
      from ${from}`,
  );
}
