import { hexOf, type MapProof, mapSteps, mapValue, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { isLeaf, LEVELS, type MapNode, SLOTS, type Slot } from "./node.ts";
import { selectNodes } from "./nodes-sql.ts";

/**
 * The head of an owner under a leaf, with its proof. An owner without entries has position 0 and a hash of
 * zeros.
 */
interface ProvenHead {
  position: number;
  /** The running hash, in hexadecimal. */
  chain: string;
  map: MapProof;
}

interface Walk {
  version: number;
  depth: number;
  /** The sibling hashes along the way, from the root down. */
  path: string[];
  found: ProvenHead | null | undefined;
}

/**
 * Returns the head of an owner under each of these leaves, in their order; null if a node of the map is gone.
 * One statement reads one level for all leaves.
 */
export async function selectProvenHeads(
  orm: Orm,
  owner: string,
  versions: readonly number[],
): Promise<(ProvenHead | null)[]> {
  const way = mapSteps(owner);
  const walks = versions.map((version): Walk => ({ version, depth: 0, path: [], found: undefined }));
  for (let open = walks; open.length > 0; open = open.filter(({ found }) => found === undefined)) {
    const nodes = await selectNodes(
      orm,
      open.map(({ version, depth }) => ({ version, path: way.slice(0, depth) })),
    );
    for (const [index, walk] of open.entries()) step(walk, way, nodes[index] ?? null);
  }
  return walks.map(({ found }) => found ?? null);
}

/**
 * Follows the owner's path through one stored node. Sets `walk.found` at a leaf or an empty subtree, otherwise moves
 * `walk` to the next stored node.
 */
function step(walk: Walk, way: string, node: MapNode | null): void {
  if (node === null) {
    walk.found = null;
    return;
  }
  const digit = Number.parseInt(way.charAt(walk.depth), SLOTS);
  for (let level = 0; ; level++) {
    const place = (SLOTS + digit) >> (LEVELS - level);
    if (level > 0) walk.path.push(hexOf(node.subtree(place ^ 1)?.hash ?? ZERO_HASH));
    const subtree = node.subtree(place);
    if (subtree === null || subtree.isLeaf) {
      walk.found = ended(walk, way, subtree === null ? null : leafBelow(node, place));
      return;
    }
    if (level === LEVELS) break;
  }
  const below = node.slot(digit);
  if (below === null || isLeaf(below)) return;
  walk.version = below.version;
  walk.depth += 1;
}

/** Returns the slot of the only leaf in a subtree. */
function leafBelow(node: MapNode, place: number): Slot | null {
  let at = place;
  while (at < SLOTS) at = node.subtree(2 * at) === null ? 2 * at + 1 : 2 * at;
  return node.slot(at - SLOTS);
}

function ended({ path }: Walk, way: string, slot: Slot | null): ProvenHead | null {
  const up = path.toReversed();
  const none = { position: 0, chain: hexOf(ZERO_HASH) };
  if (slot === null) return { ...none, map: { path: up } };
  if (!isLeaf(slot)) return null;
  if (slot.key !== way) {
    return { ...none, map: { path: up, other: { key: slot.key, value: hexOf(mapValue(slot)) } } };
  }
  return { position: slot.position, chain: hexOf(slot.chain), map: { path: up } };
}
