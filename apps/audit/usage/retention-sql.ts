import { monthStart } from "@ostiary/lib/domain/proof";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { encodeTime } from "ulid";

const ULID_TIME_LENGTH = 10;

/**
 * Drops usage from before a month (AU-139): counts, events that were added to the feed before the month began, and
 * the records of gateways whose last report is from before the month.
 */
export async function dropUsage(tx: Orm, before: string): Promise<{ counts: number; events: number }> {
  const startMs = monthStart(before);
  const start = sql`${new Date(startMs).toISOString()}::text::timestamptz`;
  const drop = async (rest: SQL) => {
    const statement = sql`with dropped as (delete from ${rest} returning 1) select count(*) as count from dropped`;
    const [found] = await rows<{ count: number }>(tx, statement);
    return found?.count ?? 0;
  };
  const counts = await drop(sql`audit.usage_counts where hour < ${start}`);
  const firstKept = encodeTime(startMs, ULID_TIME_LENGTH);
  const events = await drop(sql`audit.usage_events where id < ${firstKept}`);
  await drop(sql`audit.usage_reporters where reported_until < ${start}`);
  return { counts, events };
}
