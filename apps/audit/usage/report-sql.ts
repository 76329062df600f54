import type { UsageReport } from "@ostiary/lib/contracts/usage-contract";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { bigint } from "../bigint-sql.ts";
import type { WriteResult } from "../write-results.ts";
import { addCharges } from "./quota-sql.ts";
import { KEY_COLUMNS, TOTAL_COLUMNS } from "./usage-columns.ts";
import { SUMS } from "./usage-sql.ts";

/** The name of a report: the gateway process, and the number that the process gave it. */
interface ReportName {
  instance: string;
  number: number;
}

/** All reports to this process share one lane, so that slow reports leave connections free for writes of events. */
const LANE = "usage";

const KEY = sql.raw(KEY_COLUMNS.join(", "));
const TOTALS = {
  names: sql.raw(TOTAL_COLUMNS.join(", ")),
  sums: sql.raw(TOTAL_COLUMNS.map((name) => `${name} = known.${name} + excluded.${name}`).join(", ")),
};

/**
 * Adds a report to the counts, the quotas and the counts that wait for the feed (AU-120). One SQL
 * statement writes all of them. The statement first locks the row of the gateway: a repeated report waits for the lock,
 * finds its number and changes nothing. Counts are locked in the order of their key, so that reports of two gateways
 * cannot deadlock.
 */
export async function addReport(
  database: Database,
  name: ReportName,
  report: UsageReport,
): Promise<WriteResult> {
  const [found] = await query<{ created: boolean }>(database, "add_usage_report", { lane: LANE })`
    with given as materialized (select ${KEY}, ${SUMS} from ${countsOf(report)} group by ${KEY}),
    claimed as (${claim(name, report)}),
    counted as (${addTo(sql`audit.usage_counts`)}),
    pending as (${addTo(sql`audit.usage_pending`)}),
    charged as (${addCharges(report.quotas ?? [], sql`exists (select from claimed)`)})
    select exists (select from claimed) as created`;
  return found?.created ? "created" : "existing";
}

function countsOf({ counts }: UsageReport): SQL {
  const sent = JSON.stringify(
    counts.map(({ refused, key_prefix, ...count }) => ({
      ...count,
      key_prefix: key_prefix ?? "",
      refused_limit: refused.limit,
      refused_labels: refused.labels,
      refused_other: refused.other,
    })),
  );
  return sql`
      json_to_recordset(${sent}::text::json) as sent(
        organization_id text, hour timestamptz, service text, route text, method text, member_id text,
        key_prefix text, requests bigint, refused_limit bigint, refused_labels bigint,
        refused_other bigint, failed bigint, bytes_in bigint, bytes_out bigint, duration_ms bigint)`;
}

/**
 * Returns the statement that locks the row of the gateway. The statement returns the row only if the report is new.
 */
function claim({ instance, number }: ReportName, { reported_until, is_last, uncounted }: UsageReport): SQL {
  return sql`
      insert into audit.usage_reporters as known (instance, number, reported_until, is_ended, uncounted)
      values (${instance}, ${bigint(number)}, ${Temporal.Instant.from(reported_until).toString()}::text::timestamptz,
        ${is_last}, ${bigint(uncounted)})
      on conflict (instance) do update set number = excluded.number, reported_until = excluded.reported_until,
        is_ended = excluded.is_ended, uncounted = known.uncounted + excluded.uncounted
      where known.number < excluded.number
      returning known.instance`;
}

/** Returns the statement that adds the counts of a report to a table, in the order of the table's key. */
function addTo(table: SQL): SQL {
  return sql`
      insert into ${table} as known (${KEY}, ${TOTALS.names})
      select * from given where exists (select from claimed)
      order by organization_id collate "C", hour, service collate "C", route collate "C", method collate "C",
        member_id collate "C", key_prefix collate "C"
      on conflict (${KEY}) do update set
        ${TOTALS.sums}`;
}
