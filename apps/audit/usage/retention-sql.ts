import { monthStart } from "@ostiary/lib/domain/proof";
import { type Database, type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { encodeTime } from "ulid";

/** The maximum number of events that one transaction drops. */
const STEP_EVENTS = 500;
/** The maximum number of organizations whose counts one transaction drops. */
const STEP_ORGANIZATIONS = 100;
const TIME_LENGTH = 10;

interface DroppedUsage {
  counts: number;
  events: number;
}

/** Drops usage from before a month, in steps: counts, and events of the feed (AU-139). */
export async function dropUsage(database: Database, before: string): Promise<DroppedUsage> {
  const dropped = { counts: 0, events: 0 };
  for (let after: string | null = ""; after !== null; ) {
    const step: CountsStep = await dropCounts(database, after, before);
    dropped.counts += step.counts;
    after = step.last;
  }
  for (let last = STEP_EVENTS; last === STEP_EVENTS; dropped.events += last) {
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

interface CountsStep {
  /** The last organization of the step, or null if no organization is left. */
  last: string | null;
  counts: number;
}

/** Drops the counts of the next organizations after `after`. Reads one key of the index for each organization. */
async function dropCounts(database: Database, after: string, before: string): Promise<CountsStep> {
  const next = (organization: SQL) => sql`(select organization_id from audit.usage_counts
    where organization_id > ${organization} order by organization_id limit 1)`;
  const [found] = await step(database, "drop_usage_counts", (tx) =>
    rows<CountsStep>(
      tx,
      sql`with recursive following(organization_id) as (
          select ${next(sql`${after}`)}
          union all
          select ${next(sql`following.organization_id`)} from following where following.organization_id is not null
        ),
        due as materialized (
          select organization_id from following where organization_id is not null
          limit ${sql.raw(String(STEP_ORGANIZATIONS))}
        ),
        counts as (
          delete from audit.usage_counts known using due
          where known.organization_id = due.organization_id
            and known.hour < (${before} || '-01')::timestamp at time zone 'UTC'
          returning 1
        )
        select (select max(organization_id) from due) as last, (select count(*) from counts) as counts`,
    ),
  );
  return found ?? { last: null, counts: 0 };
}

/** Drops the events that were added to the feed before the month began. Their hours are even earlier. */
async function dropEvents(database: Database, before: string): Promise<number> {
  const firstKept = encodeTime(monthStart(before), TIME_LENGTH);
  const found = await step(database, "drop_usage_events", (tx) =>
    rows(
      tx,
      sql`delete from audit.usage_events where id in (
        select id from audit.usage_events where id < ${firstKept}
        order by id limit ${sql.raw(String(STEP_EVENTS))}) returning 1`,
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
