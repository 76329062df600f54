import type { UsageReport } from "@ostiary/lib/contracts/usage";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { addCharges } from "../quotas/sql.ts";
import { SUMS } from "../sql.ts";
import { KEY_COLUMNS, TOTAL_COLUMNS } from "../totals.ts";

/** The name of a report: the gateway process, and the number that the process gave it. */
interface ReportName {
  instance: string;
  number: number;
}

export type ReportResult = "created" | "existing";

/** All reports to this process share one lane, so that slow reports leave connections free for writes of events. */
const LANE = "usage";

const KEY = sql.raw(KEY_COLUMNS.join(", "));
const TOTALS = {
  names: sql.raw(TOTAL_COLUMNS.join(", ")),
  sums: sql.raw(TOTAL_COLUMNS.map((name) => `${name} = known.${name} + excluded.${name}`).join(", ")),
};

/** Selects the sums of a report for each month and service, and for each month, service and policy. */
const MONTHLY = sql`
      select organization_id, month, service, '' as policy, ${SUMS} from sent group by organization_id, month, service
      union all
      select organization_id, month, case when is_shared then '' else service end, policy, ${SUMS}
      from sent cross join lateral (
        select distinct policy, is_shared from json_to_recordset(policies) as named(policy text, is_shared boolean)
      ) limited
      group by 1, 2, 3, 4`;

/** Adds the sums to the stored months, and marks them as changed since their last usage statement (`is_stated`). */
const ADD_TO_MONTHS = sql`
      insert into audit.usage_months as known (organization_id, month, service, policy, ${TOTALS.names})
      select * from monthly where exists (select from claimed)
      order by organization_id collate "C", month collate "C", service collate "C", policy collate "C"
      on conflict (organization_id, month, service, policy) do update set
        ${TOTALS.sums}, changes = known.changes + 1, is_stated = false`;

/**
 * Adds a report to the counts, the quotas, the monthly sums and the counts that wait for the feed (AU-120). One SQL
 * statement writes all of them. The statement first locks the row of the gateway: a repeated report waits for the lock,
 * finds its number and changes nothing. Counts are locked in the order of their key, so that reports of two gateways
 * cannot deadlock.
 */
export async function addReport(
  database: Database,
  name: ReportName,
  report: UsageReport,
): Promise<ReportResult> {
  const [found] = await query<{ created: boolean }>(database, "add_usage_report", { lane: LANE })`
    with sent as materialized (${countsOf(report)}),
    given as materialized (select ${KEY}, ${SUMS} from sent group by ${KEY}),
    monthly as materialized (${MONTHLY}),
    claimed as (${claim(name, report)}),
    counted as (${addTo(sql`audit.usage_counts`)}),
    to_tell as (${addTo(sql`audit.usage_untold`)}),
    to_state as (${ADD_TO_MONTHS}),
    charged as (${addCharges(report.quotas ?? [], sql`exists (select from claimed)`)})
    select exists (select from claimed) as created`;
  return found?.created ? "created" : "existing";
}

/** Returns the statement that selects the counts of a report, each with its month. */
function countsOf({ counts }: UsageReport): SQL {
  const sent = JSON.stringify(
    counts.map(({ refused, key_prefix, policies, ...count }) => ({
      ...count,
      key_prefix: key_prefix ?? "",
      policies: policies ?? [],
      refused_limit: refused.limit,
      refused_labels: refused.labels,
      refused_other: refused.other,
    })),
  );
  return sql`
      select *, to_char(hour at time zone 'UTC', 'YYYY-MM') as month
      from json_to_recordset(${sent}::text::json) as sent(
        organization_id text, hour timestamptz, service text, route text, method text, member_id text,
        key_prefix text, policies json, requests bigint, refused_limit bigint, refused_labels bigint,
        refused_other bigint, failed bigint, bytes_in bigint, bytes_out bigint, duration_ms bigint)`;
}

/**
 * Returns the statement that locks the row of the gateway. The statement returns the row only if the report is new.
 */
function claim({ instance, number }: ReportName, { reported_until, is_last, uncounted }: UsageReport): SQL {
  return sql`
      insert into audit.usage_reporters as known (instance, number, reported_until, is_ended, uncounted)
      values (${instance}, ${String(number)}::text::bigint, ${reported_until}::text::timestamptz,
        ${is_last}, ${String(uncounted)}::text::bigint)
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
