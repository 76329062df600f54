import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { TOTAL_COLUMNS, type Totals } from "../totals.ts";

/** The sums of a service, or of a policy, in a month. */
export interface MonthPart extends Totals {
  /** Empty for a shared policy. */
  service: string;
  /** Empty for the sums of the service. */
  policy: string;
  /** The version of the sums, which increases with each report. */
  changes: number;
}

/** A month of an organization whose sums have changed since their last statement, or have no statement yet. */
export interface DueMonth {
  organization_id: string;
  month: string;
  /** The number of statements that the month has. */
  stated: number;
  parts: MonthPart[];
}

/** The largest number that a statement can contain. */
const LARGEST = sql.raw(String(Number.MAX_SAFE_INTEGER));
const part = sql.join(
  ["service", "policy", "changes", ...TOTAL_COLUMNS].map((name) => {
    const column = sql`sums.${sql.identifier(name)}`;
    const isText = name === "service" || name === "policy";
    return sql`${sql.raw(`'${name}'`)}, ${isText ? column : sql`least(${column}, ${LARGEST})`}`;
  }),
  sql`, `,
);

/**
 * The time between the end of a month and the writing of its statement. In this time, delayed reports can arrive, and
 * responses that were still streaming at the end of the month can finish. Counts that arrive later appear in a
 * correction.
 */
const GRACE_MS = 24 * 60 * 60 * 1000;

/**
 * Matches the rows of `changed` whose month is due for a statement. A month becomes due {@link GRACE_MS} after its end,
 * by the clock of this service and by the clock of the database. So one wrong clock cannot close a month. A month is
 * not due while the organization's chain is set aside, because the chain was altered.
 */
function isDue(nowMs: number): SQL {
  const settled = sql`least(${new Date(nowMs - GRACE_MS).toISOString()}::text::timestamptz,
    now() - make_interval(secs => ${sql.raw(String(GRACE_MS / 1_000))}))`;
  return sql`not changed.is_stated and changed.month < to_char(${settled} at time zone 'UTC', 'YYYY-MM')
    and not exists (select from audit.altered_chains aside
      where aside.owner = 'organization:' || changed.organization_id)`;
}

/** Returns the SQL condition that the statement of at least one month is due. */
export function hasDue(nowMs: number): SQL {
  return sql`exists (select from audit.usage_months changed where ${isDue(nowMs)})`;
}

/** Returns at most `limit` months whose statement is due, the oldest first. */
export function selectDue(
  database: Database,
  { nowMs, limit }: { nowMs: number; limit: number },
): Promise<DueMonth[]> {
  return query<DueMonth>(database, "select_months_to_state")`
    with due as materialized (
        select distinct month, organization_id from audit.usage_months changed
        where ${isDue(nowMs)}
        order by month, organization_id limit ${sql.raw(String(limit))}
      )
      select due.organization_id, due.month,
        (select count(*) from audit.statements known
          where known.organization_id = due.organization_id and known.month = due.month) as stated,
        (select json_agg(json_build_object(${part})) from audit.usage_months sums
          where sums.organization_id = due.organization_id and sums.month = due.month) as parts
      from due order by due.month, due.organization_id`;
}
