import { type Hash, hashFromHex, hashOf, sameHash } from "./chain.ts";

/**
 * The prefixes of the Merkle tree of RFC 9162, section 2.1: byte 0 for a leaf, byte 1 for an inner node. In a
 * tree of `n` leaves, the left subtree has as many leaves as the largest power of two below `n`.
 */
const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/**
 * The inclusion proof of a leaf: its index in a tree of `size` leaves, and the sibling hashes on the path to
 * the root, from the leaf up.
 */
export interface Inclusion {
  index: number;
  size: number;
  /** The hashes of the audit path, in hexadecimal. */
  path: string[];
}

export function leafHash(leaf: Uint8Array): Hash {
  return hashOf(LEAF, leaf);
}

/** Returns the hash of an inner node. */
export function nodeHash(left: Hash, right: Hash): Hash {
  return hashOf(NODE, left, right);
}

/** Returns the largest power of two below `size`. */
function leftSize(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/** Returns whether the tree with this root contains the leaf at that index. */
export function isIncluded(leaf: Hash, { index, size, path }: Inclusion, root: Hash): boolean {
  const sides = sidesOf(index, size);
  if (sides === null || sides.length !== path.length) return false;
  let hash = leaf;
  for (const [level, side] of sides.entries()) {
    const other = hashFromHex(path[level] ?? "");
    hash = side === "left" ? nodeHash(hash, other) : nodeHash(other, hash);
  }
  return sameHash(hash, root);
}

/**
 * Returns for each node above the leaf whether the leaf is in its left or its right half, from the leaf up.
 * Returns null for an invalid index or size.
 */
function sidesOf(index: number, size: number): ("left" | "right")[] | null {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size) return null;
  const sides: ("left" | "right")[] = [];
  for (let at = index, left = size; left > 1; ) {
    const half = leftSize(left);
    sides.unshift(at < half ? "left" : "right");
    if (at < half) left = half;
    else {
      at -= half;
      left -= half;
    }
  }
  return sides;
}
