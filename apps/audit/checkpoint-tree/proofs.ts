import { type Hash, hexOf } from "@ostiary/lib/domain/proof";
import { consistencyRanges, foldedHash, type LeafRange, nodesOf } from "@ostiary/lib/domain/tlog";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { selectSubtrees } from "./queries.ts";

/** A proof in the tree of checkpoints: hashes in hexadecimal, the lowest first. */
export type TreePath = string[];

/**
 * Returns the proof that the tree of `size` checkpoints begins with the one of `earlier`. Returns null if the stored
 * tree lacks hashes of it.
 */
export async function selectConsistency(
  database: Database,
  earlier: number,
  size: number,
): Promise<TreePath | null> {
  if (earlier > size) return null;
  const [path] = await selectPaths(database, [consistencyRanges(earlier, size)]);
  return path ?? null;
}

async function selectPaths(
  database: Database,
  paths: readonly (readonly LeafRange[] | null)[],
): Promise<(TreePath | null)[]> {
  const ranges = paths.flatMap((path) => path ?? []);
  // proofs of one tree share most of their hashes
  const nodes = new Map(ranges.flatMap(nodesOf).map((node) => [`${node.level}/${node.index}`, node]));
  const found = await selectSubtrees(database, [...nodes.values()]);
  const hashes = new Map([...nodes.keys()].map((name, at) => [name, found[at] ?? null]));
  return paths.map((path) => path && hashedPath(path, hashes));
}

function hashedPath(ranges: readonly LeafRange[], hashes: ReadonlyMap<string, Hash | null>): TreePath | null {
  const path: TreePath = [];
  for (const range of ranges) {
    const parts = nodesOf(range).map(({ level, index }) => hashes.get(`${level}/${index}`) ?? null);
    const known = parts.filter((hash) => hash !== null);
    if (known.length < parts.length) return null;
    path.push(hexOf(foldedHash(known)));
  }
  return path;
}
