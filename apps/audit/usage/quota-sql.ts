import type { OrganizationQuota, QuotaCharge, QuotaName } from "@ostiary/lib/contracts/usage-contract";
import { bucketNamed, periodAt, periodNamed } from "@ostiary/lib/domain/ratelimit";
import { type Database, query } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";

/**
 * The key of a quota: a digest, because the text can be too long for an index. Two quotas never have the same text,
 * because policy and period contain no line break.
 */
const QUOTA_ID = sql`sha256(convert_to(policy || chr(10) || period || chr(10) || subject, 'UTF8'))`;

/**
 * Returns the statement that adds charges to the counts of their quotas, if `condition` holds. Locks the counts in
 * the order of their keys, so that two reports cannot deadlock. A count can be negative for a moment: the report
 * that refunds a request may arrive before another gateway's report that charges it.
 */
export function addCharges(charges: readonly QuotaCharge[], condition: SQL): SQL {
  const given = JSON.stringify(
    charges.map(({ policy, period, subject, count, requests }) => {
      const ends_at = new Date(periodNamed(period)?.endsMs ?? 0).toISOString();
      return { policy, period, subject, count, requests, ends_at };
    }),
  );
  return sql`
      insert into audit.quota_counts as known (id, policy, period, subject, ends_at, count, requests)
      select ${QUOTA_ID} as id, policy, period, subject, ends_at, sum(count), max(requests)
      from json_to_recordset(${given}::text::json) as charge(
        policy text, period text, subject text, ends_at timestamptz, count bigint, requests bigint)
      where ${condition}
      group by policy, period, subject, ends_at
      order by id
      on conflict (id) do update set count = known.count + excluded.count,
        requests = coalesce(excluded.requests, known.requests)`;
}

/** Returns the count of each quota, or 0 for a quota without reports. */
export async function selectQuotaCounts(database: Database, quotas: readonly QuotaName[]): Promise<number[]> {
  const asked = JSON.stringify(quotas.map(({ policy, period, subject }) => ({ policy, period, subject })));
  const found = await query<{ count: number }>(database, "read_quota_counts")`
    with asked as materialized (
      select place, ${QUOTA_ID} as id from rows from (
        json_to_recordset(${asked}::text::json) as (policy text, period text, subject text)
      ) with ordinality as asked(policy, period, subject, place)
    )
    select greatest(coalesce(known.count, 0), 0)::double precision as count
    from asked left join audit.quota_counts known on known.id = asked.id
    order by place`;
  return found.map(({ count }) => count);
}

/** The maximum number of quotas that an organization reads at once. */
const SHOWN_MAX = 100;

interface QuotaRow {
  policy: string;
  period: string;
  requests: number | null;
  charged: number;
}

/** Returns the quotas of an organization in the current periods, the quota with the least left first (AU-194). */
export async function selectQuotas(
  database: Database,
  organization_id: string,
  nowMs: number,
): Promise<OrganizationQuota[]> {
  const periods = [periodAt("day", nowMs).id, periodAt("month", nowMs).id];
  const found = await query<QuotaRow>(database, "select_quotas")`
    select policy, period, requests::double precision as requests,
      greatest(count, 0)::double precision as charged
    from audit.quota_counts
    where subject = ${organization_id} and period in (${periods[0]}, ${periods[1]})
    order by greatest(count, 0)::double precision / requests desc nulls last, policy, period
    limit ${SHOWN_MAX}`;
  return found.flatMap((row) => toQuota(row) ?? []);
}

function toQuota({ policy, period, requests, charged }: QuotaRow): OrganizationQuota | null {
  const bucket = bucketNamed(policy);
  const named = periodNamed(period);
  if (bucket === null || named === null) return null;
  const isRoute = bucket.kind === "route";
  return {
    policy: "policy" in bucket ? bucket.policy : null,
    service: bucket.kind === "local" ? bucket.service : null,
    method: isRoute ? bucket.method : null,
    route: isRoute ? bucket.path : null,
    period: period.length === "2026-11".length ? "month" : "day",
    from: new Date(named.startsMs).toISOString(),
    to: new Date(named.endsMs).toISOString(),
    requests,
    charged,
  };
}

/** Removes at most `count` counts of periods that ended before `beforeMs`. Returns the number of removed counts. */
export async function deleteEndedCounts(
  database: Database,
  beforeMs: number,
  count: number,
): Promise<number> {
  const before = new Date(beforeMs).toISOString();
  const found = await query(database, "remove_ended_quotas")`
    delete from audit.quota_counts where id in (
      select id from audit.quota_counts where ends_at < ${before}::text::timestamptz
      order by ends_at limit ${count} for update skip locked)
    returning 1 as removed`;
  return found.length;
}
