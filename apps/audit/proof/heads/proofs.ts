import { type HexHash, hexOf, type MapProof, mapSteps, mapValue, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { isLeaf, LEVELS, type MapNode, type NodeRef, SLOTS, type Slot } from "./node.ts";
import { selectNodes } from "./nodes-sql.ts";

/**
 * The head of an owner under a leaf, with its proof. An owner without entries has position 0 and a hash of
 * zeros.
 */
interface ProvenHead {
  position: number;
  chain: HexHash;
  map: MapProof;
}

/** The path from the root of one leaf's map to an owner. `found` is null for a lost node, undefined before the end. */
interface Walk extends NodeRef {
  /** The sibling hashes along the path, from the last one up. */
  path: string[];
  found: ProvenHead | null | undefined;
}

/**
 * Returns the head of an owner under each of these roots of the map, in their order; null if a node is gone.
 * One statement reads one level for all roots.
 */
export async function selectProvenHeads(
  orm: Orm,
  owner: string,
  roots: readonly NodeRef[],
): Promise<(ProvenHead | null)[]> {
  const key = mapSteps(owner);
  const walks = roots.map((root): Walk => ({ ...root, path: [], found: undefined }));
  for (let [depth, open] = [0, walks]; open.length > 0; depth++) {
    const path = key.slice(0, depth);
    const places = open.map(({ version, hash }) => ({ version, hash, path }));
    for (const [index, node] of (await selectNodes(orm, places)).entries()) {
      const walk = open[index];
      if (walk !== undefined) step(walk, key, depth, node);
    }
    open = open.filter(({ found }) => found === undefined);
  }
  return walks.map(({ found }) => found ?? null);
}

/** Follows the owner's path through one stored node, to its head, to an empty subtree or to the next stored node. */
function step(walk: Walk, key: string, depth: number, node: MapNode | null): void {
  walk.found = null;
  if (node === null) return;
  const digit = Number.parseInt(key.charAt(depth), SLOTS);
  for (let level = 0; level <= LEVELS; level++) {
    const below = LEVELS - level;
    const place = (SLOTS + digit) >> below;
    if (level > 0) walk.path.unshift(hexOf(node.subtree(place ^ 1)?.hash ?? ZERO_HASH));
    const subtree = node.subtree(place);
    if (subtree !== null && !subtree.isLeaf) continue;
    // a subtree that is a leaf has one slot
    const first = (place << below) - SLOTS;
    const slots = Array.from({ length: 1 << below }, (_, index) => node.slot(first + index));
    walk.found = headAt(walk.path, key, slots.find((slot) => slot !== null) ?? null);
    return;
  }
  const next = node.slot(digit);
  if (next !== null && !isLeaf(next)) Object.assign(walk, { ...next, found: undefined });
}

function headAt(path: string[], key: string, slot: Slot | null): ProvenHead | null {
  const none = { position: 0, chain: hexOf(ZERO_HASH) };
  if (slot === null) return { ...none, map: { path } };
  if (!isLeaf(slot)) return null;
  if (slot.key !== key) {
    return { ...none, map: { path, other: { key: slot.key, value: hexOf(mapValue(slot)) } } };
  }
  return { position: slot.position, chain: hexOf(slot.chain), map: { path } };
}
