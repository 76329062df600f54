import { reasonOf } from "@ostiary/lib/domain/errors";
import { logAltered } from "./altered-chains.ts";
import { isAboutRows } from "./chain-sql.ts";
import { unreadableOf } from "./isolate.ts";
import type { PassDeps } from "./pass-deps.ts";
import { ENTRIES_MAX, newRecheck, type Recheck } from "./read-pass.ts";
import { sealPass } from "./seal-pass.ts";
import { changeReason, type SealerState } from "./state-sql.ts";
import { selectLogEvents } from "./unsealed-sql.ts";

/** The maximum number of left-out chains that one recheck reads. */
const RECHECKED_MAX = 100;

/**
 * Rechecks left-out chains, and seals the missing entries of chains whose rows match again. Yields after each pass, so
 * that the caller can seal what is new in other logs.
 */
export async function* recheckAltered(
  deps: PassDeps,
  { altered }: Pick<SealerState, "altered">,
): AsyncGenerator<void, void, void> {
  for (const owner of nextTurn(altered, deps.memory)) {
    let recheck: Recheck | null = newRecheck(owner);
    while (recheck !== null) {
      recheck = await continueRecheck(deps, recheck);
      yield;
    }
  }
}

/** Returns the chains to recheck now. Each chain gets its turn, however many stay altered. */
function nextTurn(altered: readonly string[], { rechecked }: PassDeps["memory"]): string[] {
  const waiting = altered.filter((owner) => !rechecked.has(owner));
  const others = altered.filter((owner) => rechecked.has(owner));
  const turn = [...waiting, ...others].slice(0, RECHECKED_MAX);
  if (waiting.length <= turn.length) rechecked.clear();
  for (const owner of turn) rechecked.add(owner);
  return turn;
}

/**
 * Continues a recheck. A log stays left out if the database cannot return one of its events or refuses its entries, or
 * if one of its events cannot be sealed.
 */
async function continueRecheck(deps: PassDeps, recheck: Recheck): Promise<Recheck | null> {
  const { reads, writes } = deps;
  const { owner } = recheck;
  const change = async (reason: string) => {
    if (await changeReason(writes, owner, reason)) logAltered(deps, { altered: [{ owner, reason }] });
  };
  try {
    const { recheck: next, altered = [] } = await sealPass(deps, { recheck });
    for (const { reason } of altered) await change(reason);
    return next;
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    // the recheck stays the only one that fails, even if a damaged page does not return the ids of its events
    const events = await reads
      .run("select_log_events", (orm) => selectLogEvents(orm, owner, recheck.after ?? "", ENTRIES_MAX))
      .catch(() => []);
    const { value: bad } = await unreadableOf(reads, events).next();
    await change(bad?.reason ?? `the database refuses its rows: ${reasonOf(error)}`);
    return null;
  }
}
