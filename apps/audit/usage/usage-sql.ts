import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { type Division, NAMED_BY, TOTAL_COLUMNS, type UsageRange, type UsageRow } from "./usage-columns.ts";

export interface UsageRequest extends UsageRange {
  organization_id: string;
  by: Division;
  /** The id of the last item of the previous page, or null for the first page. */
  starting_after: string | null;
  hidden: readonly string[];
}

/** The expression that identifies an item and orders the list. */
const KEYS: Readonly<Record<Division, SQL>> = {
  hour: sql`hour`,
  day: sql`date_trunc('day', hour, 'UTC')`,
  service: sql`service`,
  route: sql`service || ' ' || method || ' ' || route`,
  key: sql`member_id || ' ' || key_prefix`,
};

export const SUMS = sql.raw(TOTAL_COLUMNS.map((name) => `sum(${name})::bigint as ${name}`).join(", "));

const EXPORT_BATCH_ROWS = 200;

/** Returns at most `limit` items of an organization's usage, in the order of their ids. */
export function selectUsage(database: Database, request: UsageRequest, limit: number): Promise<UsageRow[]> {
  return query<UsageRow>(database, "select_usage")`${usageStatement(request)} limit ${limit}`;
}

/** Streams all items of an organization's usage as of one moment, in the order of their ids. */
export function streamUsage(database: Database, request: UsageRequest): AsyncIterable<UsageRow[]> {
  return database.stream<UsageRow>("export_usage", usageStatement(request), EXPORT_BATCH_ROWS);
}

function usageStatement(request: UsageRequest): SQL {
  const key = KEYS[request.by];
  const columns = NAMED_BY[request.by];
  const shown = columns.map((column) => sql`, ${sql.identifier(column)}`);
  const grouped = columns.length === 0 ? key : sql.raw(columns.join(", "));
  return sql`
    select (${key})::text as key, ${SUMS}${sql.join(shown, sql``)}
    from audit.usage_counts
    where organization_id = ${request.organization_id} and ${within(sql`hour`, request)}${without(request)}${after(request, key)}
    group by ${grouped} order by ${key}`;
}

function without({ hidden }: UsageRequest): SQL {
  if (hidden.length === 0) return sql``;
  return sql` and service not in (select json_array_elements_text(${JSON.stringify(hidden)}::text::json))`;
}

function after({ by, starting_after }: UsageRequest, key: SQL): SQL {
  if (starting_after === null) return sql``;
  const isTime = by === "hour" || by === "day";
  return isTime
    ? sql` and ${key} > ${starting_after}::text::timestamptz`
    : sql` and (${key}) > ${starting_after}`;
}

function within(column: SQL, { fromMs, toMs }: UsageRange): SQL {
  return sql`${column} >= ${new Date(fromMs).toISOString()}::text::timestamptz
    and ${column} < ${new Date(toMs).toISOString()}::text::timestamptz`;
}

/**
 * Returns the time of the last report of each gateway that sent no final report and has been silent since
 * `silentSinceMs`. Returns only times within `range`, the oldest first.
 */
export async function selectGaps(
  database: Database,
  range: UsageRange,
  silentSinceMs: number,
  limit: number,
): Promise<string[]> {
  const found = await query<{ after: string }>(database, "select_usage_gaps")`
    select reported_until as after from audit.usage_reporters
    where not is_ended and ${within(sql`reported_until`, range)}
      and reported_until < ${new Date(silentSinceMs).toISOString()}::text::timestamptz
    order by reported_until limit ${limit}`;
  return found.map(({ after }) => new Date(after).toISOString());
}
