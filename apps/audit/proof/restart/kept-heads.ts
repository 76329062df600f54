import { hexOf, mapSteps, monthEnd, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { HeadMap, type MapHead, rootOf } from "../heads/head-map.ts";
import { isLeaf, type LeafSlot, type MapNode, type NodeRef, SLOTS } from "../heads/node.ts";
import { selectNodes } from "../heads/nodes-sql.ts";
import type { AlteredChain } from "../seal/altered-chains.ts";
import {
  type ChainEnd,
  intactEnd,
  selectChainless,
  selectDroppedMonth,
  selectEnds,
  selectLastPosition,
} from "../seal/chain-sql.ts";
import type { PassDeps } from "../seal/pass-deps.ts";
import type { SealerState } from "../seal/state-sql.ts";

/** The number of nodes that one statement reads. */
const NODES = 1_000;
const START: MapHead = { position: 0, chain: ZERO_HASH };

interface Kept {
  map: HeadMap;
  /** Chains whose heads are lost, and whose rows do not give them. */
  altered: AlteredChain[];
}

/**
 * Returns the map of heads of the newest stored leaf. If nodes or all leaves are lost, makes the map again: heads that
 * can be read stay, and a lost head is computed from the entries of its chain. No stored hash of a chain's end is
 * trusted.
 *
 * Three kinds of owners get a head that their rows cannot match, so that only `ostiary audit restart --owner` continues
 * their chains:
 * - owners whose entries do not give the lost head
 * - owners of events that have no chain, because the chain may have been removed
 * - owners whose chain is left out already, because rows that agree with each other may still differ from the sealed
 *   ones
 */
export async function keptHeads(
  deps: PassDeps,
  { leaf, altered: leftOut }: Pick<SealerState, "leaf" | "altered">,
): Promise<Kept> {
  const { reads, memory } = deps;
  const root = leaf && rootOf(leaf);
  const { heads, lost } =
    root === null
      ? { heads: [], lost: new Set([""]) }
      : await reads.run("select_all_heads", (orm) => readHeads(orm, root));
  const open = (from: NodeRef | null) =>
    reads.run("open_map", (orm) => HeadMap.open(orm, memory.nodes, from, []));
  if (lost.size === 0) return { map: await open(root), altered: [] };
  const map = await open(null);
  for (const head of heads) map.setKey(head.key, head);
  const depths = [...new Set([...lost].map((path) => path.length))];
  const isLost = ({ owner }: { owner: string }) => {
    const key = mapSteps(owner);
    return depths.some((depth) => lost.has(key.slice(0, depth)));
  };
  const altered: AlteredChain[] = [];
  const isLeftOut = new Set(leftOut);
  for (const row of (await reads.run("select_chain_ends", selectEnds)).filter(isLost)) {
    const { head, isSame } = await headOfRows(deps, row);
    const isKnown = isLeftOut.has(row.owner);
    map.setKey(mapSteps(row.owner), isKnown ? { ...head, chain: ZERO_HASH } : head);
    const why = isKnown ? "it was left out before" : "its rows do not give it";
    if (isKnown || !isSame) altered.push({ owner: row.owner, reason: `its head is lost, and ${why}` });
  }
  for (const { owner, position } of (await reads.run("select_chainless", selectChainless)).filter(isLost)) {
    map.setKey(mapSteps(owner), { position, chain: ZERO_HASH });
    altered.push({ owner, reason: "its head is lost, and its chain is gone or was never sealed" });
  }
  return { map, altered };
}

/** Returns the heads of a map that can be read, and the paths of its lost nodes. */
async function readHeads(orm: Orm, root: NodeRef): Promise<{ heads: LeafSlot[]; lost: Set<string> }> {
  const heads: LeafSlot[] = [];
  const lost = new Set<string>();
  const open = [{ path: "", ...root }];
  while (open.length > 0) {
    const wanted = open.splice(-NODES);
    const found = await selectNodes(orm, wanted);
    for (const [index, { path }] of wanted.entries()) {
      const node = found[index] ?? null;
      if (node === null) {
        lost.add(path);
        continue;
      }
      heads.push(...node.slots.filter((slot) => slot !== null && isLeaf(slot)));
      open.push(...childrenOf(path, node));
    }
  }
  return { heads, lost };
}

function childrenOf(path: string, { slots }: MapNode): (NodeRef & { path: string })[] {
  return slots.flatMap((slot, digit) =>
    slot === null || isLeaf(slot) ? [] : [{ path: `${path}${digit.toString(SLOTS)}`, ...slot }],
  );
}

/**
 * Returns the head that the entries of a chain give, up to the last position that any of its rows claims, and whether
 * the stored end is the same. If an entry is missing or differs, or cannot be read, the head has that position and a
 * hash of zeros.
 */
async function headOfRows({ reads }: PassDeps, row: ChainEnd): Promise<{ head: MapHead; isSame: boolean }> {
  const claimed = await reads.run("select_last_position", (orm) => selectLastPosition(orm, row.id));
  const position = Math.max(row.position, claimed, 0);
  const end = await reads.transaction(
    "read_chain",
    async (tx) => {
      const month = await selectDroppedMonth(tx, row.id);
      return intactEnd(tx, { ...row, position }, START, month === null ? 0 : monthEnd(month));
    },
    { isolation: "repeatable read" },
  );
  if (end.position !== position || position === 0) {
    return { head: { position, chain: ZERO_HASH }, isSame: false };
  }
  return { head: end, isSame: row.position === position && row.chain === hexOf(end.chain) };
}
