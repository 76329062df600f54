import { reasonOf } from "@ostiary/lib/domain/errors";
import { type Database, type Orm, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { isAboutRows } from "./chain-sql.ts";
import type { AlteredChain } from "./chains.ts";
import type { SealMemory } from "./read-pass.ts";
import { parseSnapshot, sealable, windowAfter } from "./snapshot.ts";
import { insertAltered, selectState } from "./state-sql.ts";
import { type DueEvent, selectDue, selectEach, selectOwners } from "./unsealed-sql.ts";

/**
 * Finds the owners whose entries the database refuses, for example because somebody added a constraint or a trigger.
 * Calls `sealOnly` with ever smaller groups of owners, which seals the entries of the others.
 *
 * @throws the error of the database if it refuses a pass without entries too
 */
export async function refusedOf(
  owners: readonly string[],
  sealOnly: (owners: ReadonlySet<string>) => Promise<unknown>,
): Promise<AlteredChain[]> {
  await sealOnly(new Set());
  const refused = await refusedAlone(owners, (group) => sealOnly(new Set(group)), isAboutRows);
  return refused.map(({ item: owner, error }) => ({
    owner,
    reason: `the database refuses its rows: ${reasonOf(error)}`,
  }));
}

/** The maximum number of ids that are remembered, because unreadable rows stay in the window of a pass. */
const UNREADABLE_MAX = 1_000;

/**
 * Finds due events that the database cannot return, and leaves them and their logs out of later passes. Returns whether
 * it found one.
 */
export async function leaveOutUnreadable({
  reads,
  writes,
  memory: { unreadable },
  log,
}: {
  reads: Database;
  writes: Database;
  memory: SealMemory;
  log: Pick<Logger, "error">;
}): Promise<boolean> {
  const due = await reads.run("select_due", async (orm: Orm) => {
    const state = await selectState(orm);
    const sealed = parseSnapshot(state.sealed_to);
    return selectDue(orm, windowAfter(sealed, sealable(sealed, parseSnapshot(state.now)), null));
  });
  const bad = await unreadableOf(
    reads,
    due.filter(({ id }) => !unreadable.has(id)),
  );
  for (const { item, reason } of bad.slice(0, UNREADABLE_MAX - unreadable.size)) {
    unreadable.add(item.id);
    // a damaged page does not return even the owners
    const owners = await reads.run("select_owners", (orm) => selectOwners(orm, item)).catch(() => []);
    for (const owner of owners) await insertAltered(writes, owner, reason);
    log.error(
      { event_id: item.id, owners, reason },
      "the database cannot return an event: the logs of its owners are left out of the proof",
    );
  }
  return bad.length > 0;
}

/** Returns the events that the database cannot return, each with the reason. */
export async function unreadableOf(
  reads: Database,
  due: readonly DueEvent[],
): Promise<{ item: DueEvent; reason: string }[]> {
  const refused = await refusedAlone(
    due,
    (events) => reads.run("select_each", (orm) => selectEach(orm, events)),
    (error) => !(error instanceof StoreUnavailable),
  );
  return refused.map(({ item, error }) => ({
    item,
    reason: `the event ${item.id} cannot be read: ${reasonOf(error)}`,
  }));
}

/**
 * Returns the items with which alone `attempt` fails, and their errors. Halves a group that fails.
 *
 * @throws an error that is not about the items
 */
async function refusedAlone<Item>(
  items: readonly Item[],
  attempt: (group: readonly Item[]) => Promise<unknown>,
  isAboutItems: (error: unknown) => boolean,
): Promise<{ item: Item; error: unknown }[]> {
  try {
    if (items.length > 0) await attempt(items);
    return [];
  } catch (error) {
    if (!isAboutItems(error)) throw error;
    if (items.length === 1) return items.map((item) => ({ item, error }));
    const middle = Math.ceil(items.length / 2);
    const first = await refusedAlone(items.slice(0, middle), attempt, isAboutItems);
    return [...first, ...(await refusedAlone(items.slice(middle), attempt, isAboutItems))];
  }
}
