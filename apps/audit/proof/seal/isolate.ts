import { reasonOf } from "@ostiary/lib/domain/errors";
import { type Database, type Orm, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { AlteredChain } from "./altered-chains.ts";
import { isAboutRows } from "./chain-sql.ts";
import { nextPage, type SealMemory } from "./read-pass.ts";
import { insertAltered, selectState } from "./state-sql.ts";
import { type DueEvent, OPEN, selectDue, selectEach, selectOwners } from "./unsealed-sql.ts";

/**
 * Seals the entries of all owners but those whose entries the database refuses, for example because somebody added a
 * constraint or a trigger. Calls `sealOnly` with ever smaller groups of owners. Returns the refused owners.
 *
 * @throws the error of the database if it refuses a pass without entries too
 */
export async function sealAllButRefused(
  owners: readonly string[],
  sealOnly: (owners: ReadonlySet<string>) => Promise<unknown>,
): Promise<AlteredChain[]> {
  await sealOnly(new Set());
  const refused = await Array.fromAsync(
    refusedAlone(owners, (group) => sealOnly(new Set(group)), isAboutRows),
  );
  return refused.map(({ item: owner, error }) => ({
    owner,
    reason: `the database refuses its rows: ${reasonOf(error)}`,
  }));
}

/**
 * Finds events of the next pass that the database cannot return, and leaves out their logs, whose other events it then
 * passes over. Returns whether it found one.
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
    const { window } = await nextPage(orm, await selectState(orm));
    return selectDue(orm, window);
  });
  const ids = new Set(due.map(({ id }) => id));
  for (const id of unreadable) if (!ids.has(id)) unreadable.delete(id);
  const events = due.filter(({ id }) => !unreadable.has(id));
  let found = false;
  for await (const { item, reason } of unreadableOf(reads, events, OPEN)) {
    found = true;
    const owners = await reads
      .run("select_owners", (orm) => selectOwners(orm, item))
      .catch((error: unknown) => {
        if (!isAboutRows(error)) throw error;
        return [];
      });
    // a damaged page does not return even the owners
    if (owners.length === 0) unreadable.add(item.id);
    for (const owner of owners) await insertAltered(writes, owner, reason);
    log.error(
      { event_id: item.id, owners, reason },
      "the database cannot return an event: the logs of its owners are left out of the proof",
    );
  }
  return found;
}

/** Yields the events that satisfy a condition and that the database cannot return, each with the reason. */
export async function* unreadableOf(
  reads: Database,
  due: readonly DueEvent[],
  condition?: typeof OPEN,
): AsyncGenerator<{ item: DueEvent; reason: string }, void, void> {
  const refused = refusedAlone(
    due,
    (events) => reads.run("select_each", (orm) => selectEach(orm, events, condition)),
    (error) => !(error instanceof StoreUnavailable),
  );
  for await (const { item, error } of refused) {
    yield { item, reason: `the event ${item.id} cannot be read: ${reasonOf(error)}` };
  }
}

/**
 * Yields each item for which `attempt` fails even alone, with its error. Halves a group that fails.
 *
 * @throws an error that is not about the items
 */
async function* refusedAlone<Item>(
  items: readonly Item[],
  attempt: (group: readonly Item[]) => Promise<unknown>,
  isAboutItems: (error: unknown) => boolean,
): AsyncGenerator<{ item: Item; error: unknown }, void, void> {
  try {
    if (items.length > 0) await attempt(items);
    return;
  } catch (error) {
    if (!isAboutItems(error)) throw error;
    const [item] = items;
    if (items.length === 1 && item !== undefined) return yield { item, error };
  }
  const middle = Math.ceil(items.length / 2);
  yield* refusedAlone(items.slice(0, middle), attempt, isAboutItems);
  yield* refusedAlone(items.slice(middle), attempt, isAboutItems);
}
