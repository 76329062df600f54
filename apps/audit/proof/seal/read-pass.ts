import { hexOf, MONTH_MARGIN_MS, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { HeadMap, type NodeCache, rootOf } from "../heads/head-map.ts";
import type { SignedRoots, TrustedTree } from "../root/signed-root.ts";
import type { LeafRow } from "../root/tree-sql.ts";
import { type ChainRow, intactEnd, selectChains, selectMoved, selectSteps } from "./chain-sql.ts";
import { alteredOf, LogAltered } from "./chains.ts";
import { ownersOf, type UnsealedRow } from "./entries.ts";
import { parseSnapshot, sealedAfter, snapshotText, windowAfter } from "./snapshot.ts";
import { type SealerState, selectState } from "./state-sql.ts";
import { selectBound, selectUnsealed, selectWindow } from "./unsealed-sql.ts";

/**
 * The maximum number of entries of each kind in one pass, so that statements stay short and other work gets
 * its turn.
 */
export const ENTRIES_MAX = 5_000;
/** The maximum number of chains that were left out and that one pass looks at again. */
const LOOKED_AT_MAX = 100;

/** The state that a sealer keeps between its passes. */
export interface SealMemory {
  roots: SignedRoots;
  nodes: NodeCache;
  /** Ids of events that the database cannot return. */
  unreadable: Set<string>;
}

export interface PassRead {
  state: SealerState;
  tree: TrustedTree;
  /** Events that may lack an entry. */
  rows: readonly UnsealedRow[];
  /** The snapshot that is sealed once all of `rows` are. */
  sealed_to: string;
  behind: boolean;
  map: HeadMap;
  chains: readonly ChainRow[];
  /** Chains of `rows` whose rows differ from the map. */
  altered: readonly { owner: string; reason: string }[];
  /** Owners that were left out and whose rows match again, and their events that lack an entry. */
  restored: ReadonlyMap<string, readonly UnsealedRow[]>;
}

export interface ReadOptions {
  /** Whether to look at chains that were left out. */
  looks: boolean;
  /** The only owners whose entries the pass writes, or null for all. */
  only: ReadonlySet<string> | null;
}

/** Reads what is committed and has no place, the chains of these events, and the map of heads under the last signed root. */
async function readPass(
  tx: Orm,
  state: SealerState,
  tree: TrustedTree,
  memory: SealMemory,
  { looks, only }: ReadOptions,
): Promise<PassRead> {
  const due = tree.unsigned === null ? await dueRows(tx, state, memory) : NOTHING_DUE;
  const leftOut = new Set(state.altered);
  const wanted = state.altered.filter((owner) => looks && (only === null || only.has(owner)));
  const again = tree.unsigned === null ? wanted.slice(0, LOOKED_AT_MAX) : [];
  const owners = new Set([...again, ...due.rows.flatMap(ownersOf).filter((owner) => !leftOut.has(owner))]);
  const map = await openMap(tx, memory.nodes, tree, [...owners]);
  const chains = owners.size === 0 ? [] : await selectChains(tx, [...owners]);
  const altered = alteredOf(chains, map);
  const stillAltered = new Set(altered.map(({ owner }) => owner));
  const restored = new Map<string, UnsealedRow[]>();
  for (const owner of again) {
    if (!stillAltered.has(owner)) restored.set(owner, await selectUnsealed(tx, owner, ENTRIES_MAX));
  }
  const found = altered.filter(({ owner }) => !leftOut.has(owner));
  return { state, tree, ...due, map, chains, altered: found, restored };
}

interface Due {
  rows: UnsealedRow[];
  sealed_to: string;
  behind: boolean;
}

const NOTHING_DUE: Due = { rows: [], sealed_to: "", behind: false };

async function dueRows(tx: Orm, state: SealerState, { unreadable }: SealMemory): Promise<Due> {
  const sealed = parseSnapshot(state.sealed_to);
  const now = parseSnapshot(state.now);
  if (now.xmax < sealed.xmax) {
    // a database that was restored on another server has lower transaction numbers
    const rows = await selectUnsealed(tx, null, ENTRIES_MAX);
    const behind = rows.length === ENTRIES_MAX;
    return { rows, sealed_to: behind ? state.sealed_to : snapshotText(now), behind };
  }
  const window = windowAfter(sealed, now, await selectBound(tx, sealed.xmax, ENTRIES_MAX));
  const rows = await selectWindow(tx, window, unreadable);
  return { rows, sealed_to: snapshotText(sealedAfter(window)), behind: window.before < now.xmax };
}

/**
 * Returns the map of heads of a tree's last leaf. Reads only the nodes that lead to these owners.
 *
 * @throws LogAltered if the root of the map is gone
 */
export async function openMap(
  tx: Orm,
  nodes: NodeCache,
  { leaf }: Pick<TrustedTree, "leaf">,
  owners: readonly string[],
): Promise<HeadMap> {
  const root = leaf === null ? null : rootOf(leaf);
  const map = await HeadMap.open(tx, nodes, root, owners);
  if (map.isLost) throw new LogAltered(`The map of leaf ${leaf?.number} is not what was signed`);
  return map;
}

/** Reads the state of the sealer, checks the tree, and stops there unless `isMine`. */
export async function readStateAndPass(
  tx: Orm,
  memory: SealMemory,
  isMine: (state: SealerState) => boolean,
  options: ReadOptions,
): Promise<{ state: SealerState; read: PassRead | null }> {
  const state = await selectState(tx);
  const tree = await memory.roots.check(tx, state);
  return { state, read: isMine(state) ? await readPass(tx, state, tree, memory, options) : null };
}

/** The largest accepted difference between the clock of the interrupted process and that of this one. */
const CLOCKS_MS = 60 * 60 * 1000;

/**
 * Checks a leaf that no root has yet and that this replica did not write, because the pass of another process was
 * interrupted before its signature. Computes the leaf's map again, from the signed map and the committed rows.
 *
 * @throws LogAltered if the leaf has another map, or a time that its pass cannot have had
 */
export async function checkUnsignedLeaf(
  tx: Orm,
  nodes: NodeCache,
  tree: TrustedTree,
  leaf: LeafRow,
  nowMs: number,
): Promise<void> {
  let newestMs = 0;
  const moved = await selectMoved(tx, Number(leaf.number));
  const owners = moved.map(({ owner }) => owner);
  const map = await openMap(tx, nodes, tree, owners);
  for (const row of moved) {
    const head = map.headOf(row.owner);
    if (head === "lost") throw new LogAltered(`The path to ${row.owner} in the map of heads is gone`);
    const start = head ?? { position: 0, chain: ZERO_HASH };
    const steps = await selectSteps(tx, row.id, start.position);
    const end = intactEnd(row.owner, start, steps);
    const isIntact = end.position === row.position && hexOf(end.chain) === row.chain;
    if (!isIntact || end.position !== start.position + steps.length) {
      throw new LogAltered(
        `The chain of ${row.owner} in leaf ${leaf.number} does not have what was committed`,
      );
    }
    map.set(row.owner, end);
    newestMs = steps.reduce((ms, step) => Math.max(ms, timeOf(step.entry_occurred_at)), newestMs);
  }
  if (hexOf(map.sealed(Number(leaf.number)).root) !== leaf.map) {
    throw new LogAltered(`The map of leaf ${leaf.number} does not have what was committed`);
  }
  const beforeMs = timeOf(tree.leaf?.sealed_at);
  const sealedMs = timeOf(leaf.sealed_at);
  // an entry of a later month must not count as one of a month that retention drops
  const isTooEarly = sealedMs < beforeMs || sealedMs < newestMs - MONTH_MARGIN_MS;
  if (isTooEarly || sealedMs > Math.max(nowMs + CLOCKS_MS, beforeMs)) {
    throw new LogAltered(`The time of leaf ${leaf.number} is not one at which its pass was written`);
  }
}

function timeOf(time: string | null | undefined): number {
  return time == null ? 0 : new Date(time).getTime();
}
