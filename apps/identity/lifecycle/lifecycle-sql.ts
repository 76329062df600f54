import type { PageRequest } from "@ostiary/lib/runtime/http";
import { followingIds } from "@ostiary/lib/runtime/http";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { asc, desc, eq, gt, sql } from "drizzle-orm";
import { lifecycleEvents } from "../tables.ts";
import type { LifecycleEvent, NewEvent } from "./lifecycle-event.ts";

/** The maximum number of rows that one statement inserts, so that its single JSON parameter stays small. */
const ROWS_MAX = 10_000;

/**
 * Appends `events` to the feed in their order. Must be the last step of a transaction.
 *
 * The feed is locked until the commit, so ids follow the order of commits. A reader that has read up to an id has
 * missed no earlier event. In the last step, the lock is held only briefly, and the transaction waits for no other
 * lock while it holds this one.
 */
export async function appendEvents(tx: Orm, events: readonly NewEvent[], now: Date): Promise<void> {
  if (events.length === 0) return;
  await rows(tx, sql`select pg_advisory_xact_lock(hashtextextended('identity.lifecycle_events', 0))`);
  const [last] = await tx
    .select({ id: lifecycleEvents.id })
    .from(lifecycleEvents)
    .orderBy(desc(lifecycleEvents.id))
    .limit(1);
  const ids = followingIds(last?.id ?? null, now.getTime(), events.length);
  const written = events.map((event, index) => ({
    ...event,
    id: ids[index],
    occurred_at: now.toISOString(),
  }));
  for (let start = 0; start < written.length; start += ROWS_MAX) {
    const batch = JSON.stringify(written.slice(start, start + ROWS_MAX));
    await rows(
      tx,
      sql`
      insert into identity.lifecycle_events (id, type, occurred_at, organization_id, data)
      select id, type, occurred_at, organization_id, data
      from jsonb_to_recordset(${batch}::text::jsonb)
        as event (id text, type text, occurred_at timestamptz, organization_id text, data jsonb)`,
    );
  }
}

/** Returns whether the feed contains an event with this id. */
export async function eventExists(orm: Orm, id: string): Promise<boolean> {
  const found = await orm
    .select({ id: lifecycleEvents.id })
    .from(lifecycleEvents)
    .where(eq(lifecycleEvents.id, id));
  return found.length > 0;
}

/** Returns the events of a page, oldest first, and one more event if a next page exists. */
export async function listEvents(orm: Orm, request: PageRequest): Promise<LifecycleEvent[]> {
  const rows = await orm
    .select()
    .from(lifecycleEvents)
    .where(request.starting_after === null ? undefined : gt(lifecycleEvents.id, request.starting_after))
    .orderBy(asc(lifecycleEvents.id))
    .limit(request.limit + 1);
  return rows.map((row) => ({ ...row, occurred_at: row.occurred_at.toISOString() }));
}
