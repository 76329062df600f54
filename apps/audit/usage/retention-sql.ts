import { monthStart } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { encodeTime } from "ulid";

/** The maximum number of rows that one transaction drops: events, or pairs of an organization and a month. */
const STEP_ROWS = 500;
const TIME_LENGTH = 10;

/** The amounts of usage that were dropped. */
interface DroppedUsage {
  /** The months whose counts were dropped. A month counts once for each organization. */
  months: number;
  counts: number;
  events: number;
}

/** Drops usage from before a month, in steps: counts that are in a statement, and events of the feed (AU-139). */
export async function dropUsage(database: Database, before: string): Promise<DroppedUsage> {
  const dropped = { months: 0, counts: 0, events: 0 };
  for (let last = STEP_ROWS; last === STEP_ROWS; ) {
    const { months, counts } = await dropCounts(database, before);
    dropped.months += months;
    dropped.counts += counts;
    last = months;
  }
  for (let last = STEP_ROWS; last === STEP_ROWS; dropped.events += last) {
    last = await dropEvents(database, before);
  }
  await dropReporters(database, before);
  return dropped;
}

/** Runs a step under a lock that only one job can have, so that two jobs cannot deadlock. */
function step<Row>(database: Database, name: string, drop: (tx: Orm) => Promise<Row[]>): Promise<Row[]> {
  return database.transaction(name, async (tx) => {
    await rows(tx, sql`select pg_advisory_xact_lock(hashtextextended('audit.usage_retention', 0))`);
    return drop(tx);
  });
}

async function dropCounts(database: Database, before: string): Promise<{ months: number; counts: number }> {
  const [found] = await step(database, "drop_usage_counts", (tx) =>
    rows<{ months: number; counts: number }>(
      tx,
      sql`with due as materialized (
          select organization_id, month, (month || '-01')::timestamp at time zone 'UTC' as starts,
            ((month || '-01')::timestamp + interval '1 month') at time zone 'UTC' as ends
          from audit.usage_months where month < ${before}
          group by organization_id, month having bool_and(is_stated)
          order by month, organization_id limit ${sql.raw(String(STEP_ROWS))}
        ),
        counts as (
          delete from audit.usage_counts known using due
          where known.organization_id = due.organization_id and known.hour >= due.starts and known.hour < due.ends
          returning 1
        ),
        months as (
          delete from audit.usage_months known using due
          where known.organization_id = due.organization_id and known.month = due.month
        )
        select (select count(*) from due) as months, (select count(*) from counts) as counts`,
    ),
  );
  return found ?? { months: 0, counts: 0 };
}

/** Drops the events that were added to the feed before the month began. Their hours are even earlier. */
async function dropEvents(database: Database, before: string): Promise<number> {
  const firstKept = encodeTime(monthStart(before), TIME_LENGTH);
  const found = await step(database, "drop_usage_events", (tx) =>
    rows(
      tx,
      sql`delete from audit.usage_events where id in (
        select id from audit.usage_events where id < ${firstKept}
        order by id limit ${sql.raw(String(STEP_ROWS))}) returning 1`,
    ),
  );
  return found.length;
}

/** Drops the records of gateways whose last report is from before the month. */
async function dropReporters(database: Database, before: string): Promise<void> {
  const time = new Date(monthStart(before)).toISOString();
  await step(database, "drop_usage_reporters", (tx) =>
    rows(tx, sql`delete from audit.usage_reporters where reported_until < ${time}::text::timestamptz`),
  );
}
