import { type Clock, Loop } from "@ostiary/lib/async";
import { followingIds } from "@ostiary/lib/runtime/http";
import { type Database, type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { sql } from "drizzle-orm";
import { HOUR_MS, KEY_COLUMNS, TOTAL_COLUMNS } from "./usage-columns.ts";
import type { UsageEventRow } from "./usage-event.ts";

interface UsageEventWriterDeps {
  database: Database;
  log: Pick<Logger, "warn">;
  clock: Clock;
}

/**
 * The time between the end of an hour and the writing of its usage events. A report that arrives later causes a
 * second event for the hour, so the delay keeps most counts to one event.
 */
const SETTLE_MS = 60_000;
const INTERVAL_MS = 10_000;
const RETRY_MS = 5_000;
/** The maximum number of events in one transaction. */
const EVENTS_MAX = 1_000;

/**
 * Moves the counts of past hours to the usage feed. All replicas may run this loop, but only one replica at a time
 * moves counts.
 */
export function usageEventWriter({ database, log, clock }: UsageEventWriterDeps): Loop {
  return new Loop({
    async task(stopping) {
      for (let written = EVENTS_MAX; written === EVENTS_MAX && !stopping(); ) {
        const nowMs = clock.now();
        written = await writeUsageEvents(database, nowMs - HOUR_MS - SETTLE_MS, nowMs, EVENTS_MAX);
      }
    },
    pauseMs: INTERVAL_MS,
    retryMs: RETRY_MS,
    onFailure: (err) =>
      log.warn({ err }, "the audit service could not write usage events and will try again"),
    clock,
  });
}

const COLUMNS = [...KEY_COLUMNS, ...TOTAL_COLUMNS];
const columns = sql.raw(COLUMNS.join(", "));
const ofPending = sql.raw(COLUMNS.map((name) => `pending.${name}`).join(", "));
const key = sql.raw(KEY_COLUMNS.join(", "));
const isDue = sql.raw(KEY_COLUMNS.map((name) => `pending.${name} = due.${name}`).join(" and "));

/**
 * Moves at most `count` hourly counts to the feed, for hours that begin at `untilMs` or earlier. Returns the number of
 * moved counts. The feed is locked until the commit, so that ids follow the order of commits. A second replica moves
 * nothing while the feed is locked. A count that a report is changing is left for the next call.
 */
export function writeUsageEvents(
  database: Database,
  untilMs: number,
  nowMs: number,
  count: number,
): Promise<number> {
  return database.transaction("tell_usage", async (tx) => {
    const [lock] = await rows<{ taken: boolean }>(
      tx,
      sql`select pg_try_advisory_xact_lock(hashtextextended('audit.usage_events', 0)) as taken`,
    );
    if (!lock?.taken) return 0;
    const [last] = await rows<{ id: string | null }>(tx, sql`select max(id) as id from audit.usage_events`);
    return moveDue(tx, untilMs, followingIds(last?.id ?? null, nowMs, count));
  });
}

async function moveDue(tx: Orm, untilMs: number, ids: readonly string[]): Promise<number> {
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
