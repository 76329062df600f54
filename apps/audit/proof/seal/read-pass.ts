import type { Clock } from "@ostiary/lib/async";
import { hexOf, MONTH_MARGIN_MS, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { HeadMap, NodeCache, rootOf } from "../heads/head-map.ts";
import type { SignedRoots, TrustedTree } from "../root/signed-root.ts";
import type { LeafRow } from "../root/tree-sql.ts";
import { type AlteredChain, alteredOf, TreeAltered } from "./altered-chains.ts";
import { type ChainRow, intactEnd, selectChains, selectMoved } from "./chain-sql.ts";
import { ownersOf, type UnsealedRow } from "./entries.ts";
import {
  FIRST_SNAPSHOT,
  isRestored,
  parseSnapshot,
  type SealWindow,
  sealable,
  sealedAfter,
  snapshotText,
  windowAfter,
} from "./snapshot.ts";
import { type SealerState, selectState } from "./state-sql.ts";
import { logOf, OPEN, selectBound, selectDue, selectLogPage, selectWindow } from "./unsealed-sql.ts";

/**
 * The maximum number of entries of each kind in one pass, so that statements stay short and other work gets its turn.
 */
export const ENTRIES_MAX = 5_000;

/** The state that a sealer keeps between its passes. */
export interface SealMemory {
  roots: SignedRoots;
  nodes: NodeCache;
  /** Events of the next pass for which the database can return neither content nor owners. */
  unreadable: Set<string>;
  /** Left-out owners already rechecked in this round. */
  rechecked: Set<string>;
}

export function newMemory(roots: SignedRoots): SealMemory {
  return { roots, nodes: new NodeCache(), unreadable: new Set(), rechecked: new Set() };
}

/**
 * The progress of a recheck of a chain that was left out. A recheck reads the events of the log in pages, then what was
 * sealed for other logs since its first page. It begins again if the database is restored during the recheck.
 */
export interface Recheck {
  owner: string;
  /** The end of the chain. A recheck begins again when something else has moved the end, such as a restart. */
  position: number;
  /** The last event that was read, or null once the last page was read. */
  after: string | null;
  /** The transactions whose events have entries, as far as the log was read. Null before the first page. */
  sealed_to: string | null;
}

export function newRecheck(owner: string, position = 0): Recheck {
  return { owner, position, after: "", sealed_to: null };
}

export interface PassOptions {
  /** Whether this replica may seal in a state. */
  isMine?: (state: SealerState) => boolean;
  /** The recheck that the pass continues. Without one, the pass seals what is new. */
  recheck?: Recheck | null;
  /** The only owners whose entries the pass writes, or null for all. */
  only?: ReadonlySet<string> | null;
}

interface Due {
  /** Events that may lack an entry. */
  rows: readonly UnsealedRow[];
  /** The snapshot that is sealed once all of `rows` are. */
  sealed_to: string;
  /** Whether the pass moves the sealed snapshot. It does so for events of left-out logs too. */
  isDue: boolean;
  behind: boolean;
  /** The recheck as it continues after this pass, or null. */
  recheck: Recheck | null;
}

/** The events that a pass may seal, their chains, and the map of heads under the last signed root. */
export interface PassRead extends Due {
  map: HeadMap;
  /** The chains that the pass may extend. */
  chains: readonly ChainRow[];
  /** Chains to leave out from now on, because their rows differ from the map. */
  altered: readonly AlteredChain[];
  /** Left-out owners whose chains match the map again. Only a recheck finds one, once no later `rows` follow. */
  matchingAgain: readonly string[];
}

/**
 * The work of a pass. `others`: nothing, because another replica seals. `unsigned`: sign the checked leaf of an
 * interrupted pass.
 */
export type PassWork =
  | { kind: "seal"; read: PassRead }
  | { kind: "others" }
  | { kind: "unsigned"; leaf: LeafRow };

/**
 * Reads the state of the sealer, checks the tree, and reads what there is to seal. If a pass was interrupted before its
 * signature, checks the leaf of that pass instead.
 */
export async function readPass(
  tx: Orm,
  { memory, clock }: { memory: SealMemory; clock: Clock },
  { isMine = () => true, recheck = null, only = null }: PassOptions,
): Promise<{ state: SealerState; tree: TrustedTree; work: PassWork }> {
  const state = await selectState(tx);
  const tree = await memory.roots.check(tx, state);
  if (!isMine(state)) return { state, tree, work: { kind: "others" } };
  if (tree.unsigned !== null) {
    await checkUnsignedLeaf(tx, memory.nodes, tree, tree.unsigned, clock.now());
    return { state, tree, work: { kind: "unsigned", leaf: tree.unsigned } };
  }
  const wanted = recheck ?? (await dueRows(tx, state, memory));
  const leftOut = new Set(state.altered);
  const isOpen = (each: string) => (only?.has(each) ?? true) && !leftOut.has(each);
  const isNew = "rows" in wanted;
  const owners = isNew ? [...new Set(wanted.rows.flatMap(ownersOf).filter(isOpen))] : [wanted.owner];
  const map = await openMap(tx, memory.nodes, tree, owners);
  const stored = owners.length === 0 ? [] : await selectChains(tx, owners);
  const altered = alteredOf(stored, map);
  const alteredOwners = new Set(altered.map((each) => each.owner));
  const chains = stored.filter((row) => !alteredOwners.has(row.owner));
  const due = isNew ? wanted : await waitingRows(tx, state, wanted, chains);
  const read = {
    ...due,
    sealed_to: only === null ? due.sealed_to : state.sealed_to,
    map,
    chains,
    altered: altered.filter((each) => !leftOut.has(each.owner)),
    matchingAgain: isNew || due.behind ? [] : chains.map((row) => row.owner),
  };
  return { state, tree, work: { kind: "seal", read } };
}

/**
 * Returns the next part of what a chain that was left out may lack. Reads no events while the chain still differs,
 * because they can be many.
 */
async function waitingRows(
  tx: Orm,
  { sealed_to }: SealerState,
  given: Recheck,
  [chain]: readonly ChainRow[],
): Promise<Due> {
  if (chain === undefined) return { rows: [], sealed_to, isDue: false, behind: false, recheck: null };
  const { owner, position } = chain;
  const to = parseSnapshot(sealed_to);
  const isCurrent = given.sealed_to === null || !isRestored(parseSnapshot(given.sealed_to), to);
  const recheck = isCurrent && given.position === position ? given : newRecheck(owner, position);
  const readTo = recheck.sealed_to ?? sealed_to;
  if (recheck.after !== null) {
    const rows = await selectLogPage(tx, owner, recheck.after, ENTRIES_MAX);
    const after = rows.length < ENTRIES_MAX ? null : (rows.at(-1)?.id ?? null);
    const behind = after !== null || readTo !== sealed_to;
    return {
      rows,
      sealed_to,
      isDue: false,
      behind,
      recheck: behind ? { ...recheck, after, sealed_to: readTo } : null,
    };
  }
  const from = parseSnapshot(readTo);
  const window = windowAfter(from, to, await selectBound(tx, from.xmax, ENTRIES_MAX));
  const rows = await selectWindow(tx, window, logOf(owner));
  const behind = window.before < to.xmax;
  const next = { ...recheck, sealed_to: snapshotText(sealedAfter(window)) };
  return { rows, sealed_to, isDue: false, behind, recheck: behind ? next : null };
}

/**
 * Returns the transactions that the next pass seals, whether no others wait, and whether a restored database is then
 * read from the start.
 */
export async function nextPage(
  tx: Orm,
  state: SealerState,
): Promise<{ window: SealWindow; isLast: boolean; startsAgain: boolean }> {
  const sealed = parseSnapshot(state.sealed_to);
  const now = parseSnapshot(state.now);
  const to = sealable(sealed, now);
  const window = windowAfter(sealed, to, await selectBound(tx, sealed.xmax, ENTRIES_MAX));
  const isLast = window.before === to.xmax;
  return { window, isLast, startsAgain: isLast && isRestored(sealed, now) };
}

/**
 * Returns what is new. After a restore, first returns the events that the old server's snapshot does not cover. Then
 * the database's transaction numbers are read from the start, because new events have numbers that old ones had.
 */
async function dueRows(tx: Orm, state: SealerState, { unreadable }: SealMemory): Promise<Due> {
  const { window, isLast, startsAgain } = await nextPage(tx, state);
  const rows = await selectWindow(tx, window, OPEN, unreadable);
  const behind = startsAgain || !isLast;
  const isDue = behind || rows.length > 0 || (await selectDue(tx, window)).length > 0;
  const next = startsAgain ? FIRST_SNAPSHOT : sealedAfter(window);
  return { rows, sealed_to: snapshotText(next), isDue, behind, recheck: null };
}

/**
 * Returns the map of heads of a tree's last leaf. Reads only the nodes that lead to these owners.
 *
 * @throws TreeAltered if the root of the map is gone
 */
export async function openMap(
  tx: Orm,
  nodes: NodeCache,
  { leaf }: Pick<TrustedTree, "leaf">,
  owners: readonly string[],
): Promise<HeadMap> {
  const root = leaf === null ? null : rootOf(leaf);
  const map = await HeadMap.open(tx, nodes, root, owners);
  if (map.isLost) throw new TreeAltered(`The map of leaf ${leaf?.number} is not what was signed`);
  return map;
}

/** The largest accepted difference between the clock of the interrupted process and that of this one. */
const CLOCKS_MS = 60 * 60 * 1000;

/**
 * Checks a leaf that no root has yet, because its pass was interrupted before the signature. Computes the leaf's map
 * again, from the signed map and the committed rows.
 *
 * @throws TreeAltered if the leaf has another map, or a time that its pass cannot have had
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
    if (head === "lost") throw new TreeAltered(`The path to ${row.owner} in the map of heads is gone`);
    const start = head ?? { position: 0, chain: ZERO_HASH };
    const end = await intactEnd(tx, row, start);
    if (end.position !== row.position || hexOf(end.chain) !== row.chain) {
      throw new TreeAltered(
        `The chain of ${row.owner} in leaf ${leaf.number} does not have what was committed`,
      );
    }
    // a declaration is committed with its signature: the owner of the tables wrote this one without the key
    if (end.declarations > 0) {
      throw new TreeAltered(
        `The chain of ${row.owner} in leaf ${leaf.number} has a declaration without a signature`,
      );
    }
    map.set(row.owner, end);
    newestMs = Math.max(newestMs, end.newestMs);
  }
  if (hexOf(map.sealed(Number(leaf.number)).root) !== leaf.map) {
    throw new TreeAltered(`The map of leaf ${leaf.number} does not have what was committed`);
  }
  const beforeMs = timeOf(tree.leaf?.sealed_at);
  const sealedMs = timeOf(leaf.sealed_at);
  // an entry of a later month must not count as one of a month that retention drops
  const isTooEarly = sealedMs < beforeMs || sealedMs < newestMs - MONTH_MARGIN_MS;
  if (isTooEarly || sealedMs > Math.max(nowMs + CLOCKS_MS, beforeMs)) {
    throw new TreeAltered(`The time of leaf ${leaf.number} is not one at which its pass was written`);
  }
}

function timeOf(time: string | null | undefined): number {
  return time == null ? 0 : new Date(time).getTime();
}
