import type { PageRequest } from "@ostiary/lib/runtime/http";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { asc, desc, eq, gt, sql } from "drizzle-orm";
import { lifecycleEvents } from "../tables.ts";
import { followingIds, type LifecycleEvent, type NewEvent } from "./lifecycle-event.ts";

/** Rows of one statement: they travel as a single parameter, and no statement may take long. */
const ROWS_MAX = 10_000;

/**
 * Adds `events`, in their order, to the feed. It must be the last step of its transaction.
 *
 * A lock on the feed is held from here to the commit, so that ids are given in the order of commits: whoever
 * reads up to an id will never find a new event below it. As the last step it is held for as long as
 * a commit takes, and nothing that a writer still has to wait for can come after it.
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

/** Whether the feed holds an event of this id. */
export async function eventExists(orm: Orm, id: string): Promise<boolean> {
  const found = await orm
    .select({ id: lifecycleEvents.id })
    .from(lifecycleEvents)
    .where(eq(lifecycleEvents.id, id));
  return found.length > 0;
}

/** One more event than a page holds, oldest first. */
export async function listEvents(orm: Orm, request: PageRequest): Promise<LifecycleEvent[]> {
  const rows = await orm
    .select()
    .from(lifecycleEvents)
    .where(request.starting_after === null ? undefined : gt(lifecycleEvents.id, request.starting_after))
    .orderBy(asc(lifecycleEvents.id))
    .limit(request.limit + 1);
  return rows.map((row) => ({ ...row, occurred_at: row.occurred_at.toISOString() }));
}
