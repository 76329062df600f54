import { selectChains } from "./chain-sql.ts";
import { writePass } from "./pass-sql.ts";
import { ENTRIES_MAX, entriesOfRows, type PassDeps, type PassResult, placeEntries } from "./seal-pass.ts";
import { expectedOf } from "./sealed-state.ts";
import type { SealerState } from "./sealer-state-sql.ts";
import { parseSnapshot } from "./snapshot.ts";
import { selectUnsealedOf } from "./unsealed-sql.ts";

/**
 * Finds the first altered chain whose row matches the sealed head again, and seals its waiting events, up to the size
 * of one pass. Restores the chain once none of its events waits. Returns null if no chain matches.
 */
export async function recoverPass(deps: PassDeps, state: SealerState): Promise<PassResult | null> {
  // in a restored database, the sealer first searches the whole log
  if (parseSnapshot(state.now).xmax < parseSnapshot(state.sealed_to).xmax) return null;
  for (const aside of state.set_aside) {
    const { owner } = aside;
    const chains = await selectChains(deps.reads, [owner]);
    const map = await deps.sealed.openMap(state.checkpoint, [owner]);
    const altered = await deps.sealed.alteredOf(chains, map, expectedOf([aside]));
    if (altered.length > 0) continue;
    const rows = await selectUnsealedOf(deps.reads, owner, state.sealed_to, ENTRIES_MAX);
    const isLast = rows.length < ENTRIES_MAX;
    const entries = (await entriesOfRows(deps, rows)).filter((entry) => entry.owner === owner);
    const placed = await placeEntries(deps, state, entries, {
      map,
      chains: entries.length === 0 ? [] : chains,
    });
    const write = {
      ...placed,
      holder: deps.holder,
      sealed_to: state.sealed_to,
      restored: isLast ? [owner] : [],
    };
    if (!(await writePass(deps.writes, state.passes, write))) return { entries: 0, end: "lost" };
    deps.sealed.lastWrites.remember(write.heads, write.checkpoint);
    if (isLast) deps.log.error({ owner }, "the log of an owner matches its seal again: sealing continues");
    return { entries: entries.length, end: "behind" };
  }
  return null;
}
