import type { ProofTree } from "@ostiary/lib/contracts/audit";
import { type Checkpoint, type Hash, hexOf } from "@ostiary/lib/domain/proof";
import {
  consistencyRanges,
  foldedHash,
  inclusionRanges,
  type LeafRange,
  nodesOf,
  readNote,
  readTreeHead,
} from "@ostiary/lib/domain/tlog";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { selectNote, selectSubtrees } from "./sql.ts";

/** The checkpoints and the root that an export proves to be in the tree, besides the newest checkpoint. */
export interface TreeQuestions {
  earlier: readonly Checkpoint[];
  /** A checkpoint that the reader asked for. The proofs show that the newest tree begins with this checkpoint's tree. */
  asked: Checkpoint | null;
  /** A root that witnesses cosigned. The proofs show that the newest tree begins with this root's tree. */
  cosigned: { size: number; note: string } | null;
}

/** A proof in the tree of checkpoints: hashes in hexadecimal, from the lowest level up. */
type TreePath = string[];

/** The proofs in the tree that an export contains. */
export interface TreeProofs {
  tree: ProofTree;
  /** The proofs of earlier checkpoints, in their order. */
  earlier: readonly TreePath[];
}

/**
 * Returns the proofs that the tree under the newest signed root contains `checkpoint` and the checkpoints of the
 * questions. Returns null while no root is signed, or if the tree lacks one of these checkpoints.
 */
export async function selectTreeProofs(
  database: Database,
  checkpoint: Checkpoint,
  { earlier, asked, cosigned }: TreeQuestions,
): Promise<TreeProofs | null> {
  const note = await selectNote(database);
  const head = note === null ? null : readTreeHead(readNote(note)?.text ?? "");
  if (note === null || head === null) return null;
  const { size } = head;
  const leaves = [checkpoint, ...earlier, ...(asked === null ? [] : [asked])];
  const ranges = leaves.map(({ number }) => (number <= size ? inclusionRanges(number - 1, size) : null));
  const start = asked === null ? [] : [{ from: 0, to: asked.number }];
  const paths = await selectPaths(database, [
    ...ranges,
    ...start.map((range) => [range]),
    ...start.map(({ to }) => consistencyRanges(to, size)),
  ]);
  const known = paths.filter((path) => path !== null);
  const [path] = known;
  if (path === undefined || known.length < paths.length) return null;
  const tree: ProofTree = { note, path };
  const [askedPath, root, consistency] = known.slice(1 + earlier.length);
  if (asked !== null && askedPath && root?.[0] !== undefined && consistency) {
    tree.asked = { checkpoint: asked, path: askedPath, root: root[0], consistency };
  }
  const linked = cosigned === null ? null : await selectConsistency(database, cosigned.size, size);
  if (cosigned !== null && linked !== null) tree.cosigned = { note: cosigned.note, consistency: linked };
  return { tree, earlier: known.slice(1, 1 + earlier.length) };
}

/**
 * Returns the proof that the tree of `size` checkpoints begins with the tree of the first `earlier` checkpoints.
 * Returns null if `earlier` is greater than `size`, or the stored tree lacks hashes of the proof.
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
  // reads each hash once, because proofs of one tree share most of their hashes
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
