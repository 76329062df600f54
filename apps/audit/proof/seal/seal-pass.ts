import { StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { type AlteredChain, logAltered } from "./altered-chains.ts";
import { appendToChains } from "./append-to-chains.ts";
import { isAboutRows } from "./chain-sql.ts";
import { leaveOutUnreadable, sealAllButRefused } from "./isolate.ts";
import { newEntries } from "./new-entries.ts";
import type { PassDeps } from "./pass-deps.ts";
import type { PassWrite } from "./pass-sql.ts";
import { type PassOptions, type PassRead, type Recheck, readPass } from "./read-pass.ts";
import { type Base, nextLeaf, signInterrupted, writeAndSign } from "./sign-pass.ts";
import { insertAltered, type SealerState } from "./state-sql.ts";

/**
 * The result of a pass. `behind`: there is more to seal now. `lost`: another replica has written since the state
 * was read. `others`: another replica seals.
 */
interface PassResult {
  state: SealerState;
  entries: number;
  end: "done" | "behind" | "lost" | "others";
  /** The recheck as it continues after the pass; null once it has ended. */
  recheck: Recheck | null;
  /** Logs with an event that cannot be sealed. */
  altered?: readonly AlteredChain[];
}

/**
 * Seals committed events that have no position yet, up to the size of one pass: one read transaction, one write
 * transaction, then the signature. A log whose rows the database or this process refuses is left out.
 */
export async function sealPass(deps: PassDeps, options: PassOptions = {}): Promise<PassResult> {
  const { recheck = null, only = null } = options;
  const { state, tree, work } = await readInOneTransaction(deps, options);
  const nothing = { state, entries: 0, recheck };
  if (work.kind === "others") return { ...nothing, end: "others" };
  if (work.kind === "unsigned") {
    await signInterrupted(deps, { state, tree }, work.leaf);
    return { ...nothing, end: "behind" };
  }
  const { read } = work;
  const found = await newEntries(deps, read);
  const write = passWrite(deps, { state, tree, ...read }, found);
  const entries = write?.entries?.length ?? 0;
  const next: PassResult = {
    state,
    entries,
    end: read.behind ? "behind" : "done",
    altered: found.altered,
    // an event that cannot be sealed ends the recheck, so that its log stays left out
    recheck:
      read.recheck && found.altered.length === 0
        ? { ...read.recheck, position: read.recheck.position + entries }
        : null,
  };
  if (write === null) return next;
  logAltered(deps, write);
  if (write.leaf !== null && state.has_added_nodes) {
    deps.log.error(
      { version: write.leaf.number },
      "somebody added rows to audit.head_map with the number of the next leaf: the sealer ignores them",
    );
  }
  try {
    if (!(await writeAndSign(deps, { state, tree }, write))) return { ...nothing, end: "lost" };
  } catch (error) {
    if (only !== null || recheck !== null || !isAboutRows(error)) throw error;
    const owners = write.heads?.map((head) => head.owner) ?? [];
    const refused = await sealAllButRefused(owners, (group) => sealPass(deps, { only: group }));
    for (const each of refused) await insertAltered(deps.writes, each.owner, each.reason);
    logAltered(deps, { altered: refused });
    return { ...nothing, end: "behind" };
  }
  return next;
}

async function readInOneTransaction(deps: PassDeps, options: PassOptions): ReturnType<typeof readPass> {
  const { reads } = deps;
  const read = () =>
    reads.transaction("read_pass", (tx) => readPass(tx, deps, options), { isolation: "repeatable read" });
  try {
    return await read();
  } catch (error) {
    const isRecheck = options.recheck != null;
    if (isRecheck || error instanceof StoreUnavailable || !(await leaveOutUnreadable(deps))) throw error;
    return read();
  }
}

/** Returns what a pass writes, or null if nothing is due. */
function passWrite(
  deps: PassDeps,
  read: Base & PassRead,
  found: Awaited<ReturnType<typeof newEntries>>,
): PassWrite | null {
  const { state } = read;
  const all = [...read.altered, ...found.altered];
  const before = new Set(state.altered);
  const alteredNow = new Set(all.map(({ owner }) => owner));
  const altered = all.filter(({ owner }) => !before.has(owner));
  const matchingAgain = read.matchingAgain.filter((owner) => !alteredNow.has(owner));
  const plan = appendToChains(found.entries, read.chains, read.map);
  if (!read.isDue && plan.heads.length + altered.length + matchingAgain.length === 0) return null;
  const leaf = plan.heads.length === 0 ? null : nextLeaf(deps, read);
  const isFirst = leaf !== null && state.trees.length === 0;
  return {
    holder: deps.holder ?? state.holder,
    sealed_to: read.sealed_to,
    entries: plan.entries,
    heads: plan.heads,
    leaf,
    begins: isFirst ? { origin: deps.origin, before: 0, started_at: leaf.sealed_at } : null,
    altered,
    matchingAgain,
  };
}
