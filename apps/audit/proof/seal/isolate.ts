import { reasonOf } from "@ostiary/lib/domain/errors";
import { type Database, type Orm, StoreUnavailable, sqlState } from "@ostiary/lib/runtime/stores/database";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { AlteredChain } from "./altered.ts";
import type { SealMemory } from "./read-pass.ts";
import { parseSnapshot, windowAfter } from "./snapshot.ts";
import { selectState } from "./state-sql.ts";
import { type DueEvent, selectDue, selectEach } from "./unsealed-sql.ts";

/** The maximum number of chains that one pass leaves out because the database refuses their entries. */
const REFUSED_MAX = 32;
/** The classes of SQLSTATEs by which the database refuses values: data exceptions and constraint violations. */
const REFUSED_VALUES = /^2[23]/;

/**
 * Finds the owners whose entries the database refuses, for example because somebody added a constraint. Calls
 * `sealOnly` with ever smaller groups of owners, which seals the entries of the others.
 *
 * @throws the error of the database if it refuses the entries of every owner, or of more than {@link REFUSED_MAX}
 */
export async function refusedOf(
  owners: readonly string[],
  error: unknown,
  sealOnly: (owners: ReadonlySet<string>) => Promise<unknown>,
): Promise<AlteredChain[]> {
  const refused: AlteredChain[] = [];
  const halve = async (group: readonly string[], why: unknown): Promise<void> => {
    if (!REFUSED_VALUES.test(sqlState(why) ?? "")) throw why;
    if (group.length <= 1) {
      refused.push(...group.map((owner) => ({ owner, reason: `its entries are refused: ${reasonOf(why)}` })));
      if (refused.length > REFUSED_MAX) throw error;
      return;
    }
    const middle = Math.ceil(group.length / 2);
    for (const half of [group.slice(0, middle), group.slice(middle)]) {
      await sealOnly(new Set(half)).catch((again: unknown) => halve(half, again));
    }
  };
  await halve(owners, error);
  if (owners.length > 1 && refused.length === owners.length) throw error;
  return refused;
}

/** The maximum number of ids that are remembered, because unreadable rows stay in the window of a pass. */
const UNREADABLE_MAX = 1_000;

/**
 * Finds due events that the database cannot return, and leaves them out of later passes. Returns whether it found one.
 */
export async function leaveOutUnreadable({
  reads,
  memory: { unreadable },
  log,
}: {
  reads: Database;
  memory: SealMemory;
  log: Pick<Logger, "error">;
}): Promise<boolean> {
  const due = await reads.run("select_due", async (orm: Orm) => {
    const state = await selectState(orm);
    return selectDue(orm, windowAfter(parseSnapshot(state.sealed_to), parseSnapshot(state.now), null));
  });
  const bad = await unreadableOf(
    reads,
    due.filter(({ id }) => !unreadable.has(id)),
  );
  for (const { id } of bad.slice(0, UNREADABLE_MAX - unreadable.size)) {
    unreadable.add(id);
    log.error({ event_id: id }, "the database cannot return an event: the event is left out of the proof");
  }
  return bad.length > 0;
}

async function unreadableOf(reads: Database, due: readonly DueEvent[]): Promise<readonly DueEvent[]> {
  try {
    await reads.run("select_each", (orm) => selectEach(orm, due));
    return [];
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    if (due.length <= 1) return due;
    const middle = Math.ceil(due.length / 2);
    return [
      ...(await unreadableOf(reads, due.slice(0, middle))),
      ...(await unreadableOf(reads, due.slice(middle))),
    ];
  }
}
