import { type Hash, hashOf, sameHash } from "../proof/chain.ts";
import { EMPTY_ROOT } from "./tree-head.ts";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

export function leafHash(leaf: string | Uint8Array): Hash {
  return hashOf(LEAF, typeof leaf === "string" ? new TextEncoder().encode(leaf) : leaf);
}

function nodeHash(left: Hash, right: Hash): Hash {
  return hashOf(NODE, left, right);
}

// The arithmetic of an append-only Merkle tree (RFC 6962, section 2.1). Leaves are counted from 0. Sizes can exceed
// 32 bits, so this file uses no bitwise operators.

/**
 * A complete subtree: the leaves from `index * 2 ** level`, inclusive, to `(index + 1) * 2 ** level`,
 * exclusive.
 */
export interface TreeNode {
  level: number;
  index: number;
}

/** A range of leaves whose hash is part of a proof. `to` is exclusive. */
export interface LeafRange {
  from: number;
  to: number;
}

/** Returns the largest power of two that is not above `size`. */
function powerWithin(size: number): number {
  let power = 1;
  while (power * 2 <= size) power *= 2;
  return power;
}

/** Returns the largest power of two below `size`: the number of leaves of the left subtree. */
function leftSize(size: number): number {
  return powerWithin(size - 1);
}

/**
 * Returns the complete subtrees that make up a range, from left to right. The start of the range must be a
 * multiple of the size of its largest subtree, as in a proof.
 */
export function nodesOf({ from, to }: LeafRange): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let at = from; at < to; ) {
    const leaves = powerWithin(to - at);
    nodes.push({ level: Math.log2(leaves), index: at / leaves });
    at += leaves;
  }
  return nodes;
}

/**
 * Returns the hash of a range from the hashes of its complete subtrees, or {@link EMPTY_ROOT} without
 * subtrees.
 */
export function foldedHash(hashes: readonly Hash[]): Hash {
  return (
    hashes
      .toReversed()
      .reduce<Hash | null>((right, left) => (right === null ? left : nodeHash(left, right)), null) ??
    EMPTY_ROOT
  );
}

/**
 * Returns the hashes that a new leaf adds to a tree of `size` leaves: the hash of the leaf, then the hash of
 * each subtree that the leaf completes, upwards. `frontier` has the hashes of the tree's complete subtrees,
 * from left to right.
 */
export function hashesOfNextLeaf(size: number, leaf: Hash, frontier: readonly Hash[]): Hash[] {
  const hashes = [leaf];
  let hash = leaf;
  for (let rest = size, at = frontier.length - 1; rest % 2 === 1; rest = (rest - 1) / 2, at--) {
    const left = frontier[at];
    if (left === undefined) throw new RangeError("The frontier does not match the size of the tree.");
    hash = nodeHash(left, hash);
    hashes.push(hash);
  }
  return hashes;
}

/** Returns the frontier after a leaf, from the hashes that the leaf added. */
export function nextFrontier(frontier: readonly Hash[], added: readonly Hash[]): Hash[] {
  const completed = added.at(-1);
  if (completed === undefined) throw new RangeError("A leaf adds at least its own hash.");
  return [...frontier.slice(0, frontier.length - added.length + 1), completed];
}

/** Returns the root of the tree with these leaf hashes. */
export function rootOfLeaves(leaves: readonly Hash[]): Hash {
  let frontier: Hash[] = [];
  for (const [size, leaf] of leaves.entries()) {
    frontier = nextFrontier(frontier, hashesOfNextLeaf(size, leaf, frontier));
  }
  return foldedHash(frontier);
}

/**
 * Returns the ranges whose hashes form the inclusion proof of a leaf in a tree of `size` leaves, from the
 * leaf up.
 */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  const ranges: LeafRange[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + leftSize(to - from);
    ranges.unshift(index < middle ? { from: middle, to } : { from, to: middle });
    if (index < middle) to = middle;
    else from = middle;
  }
  return ranges;
}

/**
 * Returns the ranges whose hashes form the consistency proof between a tree of `earlier` leaves and its
 * extension to `size` leaves (RFC 6962, section 2.1.2). Returns an empty list if the earlier tree is empty or
 * has the same size.
 */
export function consistencyRanges(earlier: number, size: number): LeafRange[] {
  if (earlier === 0 || earlier >= size) return [];
  const ranges: LeafRange[] = [];
  let [from, to] = [0, size];
  while (to !== earlier) {
    const middle = from + leftSize(to - from);
    ranges.unshift(earlier <= middle ? { from: middle, to } : { from, to: middle });
    if (earlier <= middle) to = middle;
    else from = middle;
  }
  // A range from 0 is the earlier tree, whose root the verifier already has.
  if (from > 0) ranges.unshift({ from, to });
  return ranges;
}

/** The size and the root of a tree. */
interface KnownTree {
  size: number;
  root: Hash;
}

/** Returns whether two trees have the same size and root. */
export function sameTree(a: KnownTree, b: KnownTree): boolean {
  return a.size === b.size && sameHash(a.root, b.root);
}

/** Returns whether `path`, from the leaf up, proves that the tree has the leaf at that index. */
export function isIncluded(leaf: Hash, index: number, tree: KnownTree, path: readonly Hash[]): boolean {
  const isIndex = Number.isSafeInteger(tree.size) && Number.isSafeInteger(index);
  if (!isIndex || index < 0 || index >= tree.size) return false;
  const ranges = inclusionRanges(index, tree.size);
  if (ranges.length !== path.length) return false;
  let hash = leaf;
  for (const [level, { from }] of ranges.entries()) {
    const beside = path[level] ?? EMPTY_ROOT;
    hash = from > index ? nodeHash(hash, beside) : nodeHash(beside, hash);
  }
  return sameHash(hash, tree.root);
}

/** Returns whether `path` proves that the later tree extends the earlier one. */
export function isConsistent(earlier: KnownTree, later: KnownTree, path: readonly Hash[]): boolean {
  const isCounted = Number.isSafeInteger(earlier.size) && Number.isSafeInteger(later.size);
  if (!isCounted || earlier.size < 0 || earlier.size > later.size) return false;
  if (earlier.size === later.size) return path.length === 0 && sameTree(earlier, later);
  if (earlier.size === 0) return path.length === 0 && sameHash(earlier.root, EMPTY_ROOT);
  const ranges = consistencyRanges(earlier.size, later.size);
  if (path.length !== ranges.length) return false;
  return leadsToBoth(
    earlier,
    later,
    ranges.map((range, index) => ({ ...range, hash: path[index] })),
  );
}

/** Computes both roots from the hashes of a proof, the lowest hash first, and compares them with the given roots. */
function leadsToBoth(
  earlier: KnownTree,
  later: KnownTree,
  parts: readonly (LeafRange & { hash: Hash | undefined })[],
): boolean {
  const [first] = parts;
  // The proof omits the first hash if the earlier tree is a complete subtree of the later one.
  const isWhole = first === undefined || first.from === earlier.size;
  let before: Hash = (isWhole ? earlier.root : first?.hash) ?? EMPTY_ROOT;
  let after = before;
  for (const { from, hash } of isWhole ? parts : parts.slice(1)) {
    if (hash === undefined) return false;
    if (from >= earlier.size) after = nodeHash(after, hash);
    else {
      before = nodeHash(hash, before);
      after = nodeHash(hash, after);
    }
  }
  return sameHash(before, earlier.root) && sameHash(after, later.root);
}
