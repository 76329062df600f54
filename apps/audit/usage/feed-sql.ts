import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { KEY_COLUMNS, TOTAL_COLUMNS } from "./usage-columns.ts";
import type { UsageEventRow } from "./usage-event.ts";

const COLUMNS = [...KEY_COLUMNS, ...TOTAL_COLUMNS];
const columns = sql.raw(COLUMNS.join(", "));
const ofPending = sql.raw(COLUMNS.map((name) => `pending.${name}`).join(", "));
const key = sql.raw(KEY_COLUMNS.join(", "));
const isDue = sql.raw(KEY_COLUMNS.map((name) => `pending.${name} = due.${name}`).join(" and "));

/** Locks the feed until the transaction ends. Returns false if another transaction holds the lock. */
export async function tryLockFeed(tx: Orm): Promise<boolean> {
  const [lock] = await rows<{ taken: boolean }>(
    tx,
    sql`select pg_try_advisory_xact_lock(hashtextextended('audit.usage_events', 0)) as taken`,
  );
  return lock?.taken ?? false;
}

/** Returns the id of the newest event, or null if the feed is empty. */
export async function selectLastId(tx: Orm): Promise<string | null> {
  const [last] = await rows<{ id: string | null }>(tx, sql`select max(id) as id from audit.usage_events`);
  return last?.id ?? null;
}

/**
 * Moves hourly counts to the feed, one for each id, for hours that begin at `untilMs` or earlier. Returns the number of
 * moved counts. Skips locked counts.
 */
export async function moveDue(tx: Orm, untilMs: number, ids: readonly string[]): Promise<number> {
  const [moved] = await rows<{ count: number }>(
    tx,
    sql`with due as materialized (
        select ${key} from audit.usage_pending
        where hour <= ${new Date(untilMs).toISOString()}::text::timestamptz
        order by hour limit ${ids.length} for update skip locked
      ),
      pending as (
        delete from audit.usage_pending pending using due where ${isDue} returning ${ofPending}
      ),
      numbered as (
        select ${columns}, row_number() over (order by hour, ${key}) as place from pending
      ),
      written as (
        insert into audit.usage_events (id, ${columns})
        select given.id, ${columns} from numbered
          join json_array_elements_text(${JSON.stringify(ids)}::text::json) with ordinality as given(id, place)
            using (place)
        returning id
      )
      select count(*) as count from written`,
  );
  return moved?.count ?? 0;
}

export async function usageEventExists(orm: Orm, id: string): Promise<boolean> {
  const found = await rows(orm, sql`select from audit.usage_events where id = ${id}`);
  return found.length > 0;
}

/** Returns at most `limit` events after an id, the oldest first. */
export function selectUsageEvents(orm: Orm, after: string | null, limit: number): Promise<UsageEventRow[]> {
  return rows<UsageEventRow>(
    orm,
    sql`select id, ${columns} from audit.usage_events where id > ${after ?? ""} order by id limit ${limit}`,
  );
}
