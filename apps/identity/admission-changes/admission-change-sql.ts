import type { AdmissionChange } from "@ostiary/lib/contracts/admission";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { admissionChanges, endedTransactions } from "../tables.ts";
import type { Cursor } from "./cursor.ts";

/** The state of the database at the time of a read. `xmax` is the id of its next transaction. */
interface DatabaseState {
  readonly server: string;
  readonly at: number;
  readonly seen: string;
  readonly xmax: string;
}

interface ChangeRow {
  readonly xid: string;
  readonly n: string;
  readonly user_id: string | null;
  readonly member_id: string | null;
  readonly organization_id: string | null;
  readonly readmits: boolean;
}

/**
 * Returns the state of the database, and at most `limit` changes after the cursor. Without a cursor, returns no
 * changes.
 */
export async function readChanges(
  orm: Orm,
  cursor: Cursor | null,
  limit: number,
): Promise<{ state: DatabaseState; changes: ChangeRow[] }> {
  const read = await rows<DatabaseState & { [Field in keyof ChangeRow]: ChangeRow[Field] | null }>(
    orm,
    sql`
    select state.server, state.at::float8 as at, state.snapshot::text as seen,
      pg_snapshot_xmax(state.snapshot)::text as xmax,
      change.xid::text, change.n::text, change.user_id, change.member_id, change.organization_id, change.readmits
    from (
      select extract(epoch from pg_postmaster_start_time())::text || '-' ||
          coalesce((select extract(epoch from stats_reset)::text from pg_stat_bgwriter), '') as server,
        floor(extract(epoch from clock_timestamp()) * 1000) as at, pg_current_snapshot() as snapshot
    ) state
    left join lateral (${cursor === null ? sql`select * from ${admissionChanges} where false` : changesSince(cursor, limit)}) change on true
    order by change.xid, change.n`,
  );
  const [state] = read;
  if (state === undefined) throw new Error("The database returned no snapshot.");
  return { state, changes: read.filter((row): row is DatabaseState & ChangeRow => row.xid !== null) };
}

/**
 * Selects the changes of transactions that have completed since the cursor: transactions that the cursor shows as
 * running, and later ones. Completed transactions between them are not read again. Otherwise one transaction that stays
 * open, in any database of the server, would make each poll read every change since its start. Rows of transactions
 * that a restored database does not have are in none of its snapshots.
 */
function changesSince({ seen, page }: Cursor, limit: number): SQL {
  const until = page === undefined ? sql`state.snapshot` : sql`${page.seen}::pg_snapshot`;
  const known = sql`${seen}::pg_snapshot`;
  const place = page === undefined ? sql`true` : sql`(xid, n) > (${page.xid}::xid8, ${page.n}::bigint)`;
  const next = sql`pg_visible_in_snapshot(xid, ${until}) and ${place} order by xid, n limit ${limit}`;
  return sql`
    select ended.* from pg_snapshot_xip(${known}) running (id)
      cross join lateral (select * from ${admissionChanges} where xid = running.id and ${next}) ended
    union all
    (select * from ${admissionChanges}
      where xid >= pg_snapshot_xmax(${known}) and xid < pg_snapshot_xmax(${until}) and ${next})
    order by xid, n limit ${limit}`;
}

export function changeOf({ user_id, member_id, organization_id, readmits }: ChangeRow): AdmissionChange {
  if (user_id !== null) return { user_id, readmits };
  if (member_id !== null) return { member_id, readmits };
  if (organization_id !== null) return { organization_id, readmits };
  throw new Error("A row of admission_changes names nobody.");
}

/** Selects the newest record of ended transactions that is older than `keptMs`. */
function lastEnded(keptMs: number): SQL {
  return sql`from ${endedTransactions} where seen_at < now() - ${keptMs} * interval '1 millisecond'
    order by seen_at desc limit 1`;
}

/**
 * Records which transactions have ended by now, and deletes the records that {@link deleteOldChanges} no longer needs.
 */
export async function recordEndedTransactions(orm: Orm, keptMs: number): Promise<void> {
  await orm.insert(endedTransactions).values({}).onConflictDoNothing();
  await rows(
    orm,
    sql`delete from ${endedTransactions} where seen_at < (select seen_at ${lastEnded(keptMs)})`,
  );
}

/**
 * Deletes at most `limit` changes that no accepted cursor needs, and returns their number. A change can be older than
 * its commit, so its transaction must have ended `keptMs` ago too.
 */
export async function deleteOldChanges(orm: Orm, keptMs: number, limit: number): Promise<number> {
  const deleted = await rows(
    orm,
    sql`
    delete from ${admissionChanges} where (xid, n) in (
      select xid, n from ${admissionChanges}
      where recorded_at < now() - ${keptMs} * interval '1 millisecond' and xid < (select oldest ${lastEnded(keptMs)})
      limit ${limit} for update skip locked)
    returning 1`,
  );
  return deleted.length;
}
