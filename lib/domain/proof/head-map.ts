import { type Static, Type } from "@sinclair/typebox";
import { HASH_PATTERN, type Hash, hashFromHex, hexOf, sameHash, sha256, ZERO_HASH } from "./chain.ts";
import { canonicalJson } from "./entry.ts";
import { TIME_PATTERN } from "./months.ts";

/** The end of an owner's chain. */
export interface Head {
  /** `organization:` or `user:`, followed by the id. */
  owner: string;
  /** The position of the last entry, counted from 1; 0 for an owner without entries. */
  position: number;
  chain: Hash;
}

/**
 * The map of heads is a Merkle tree with the head of every owner as a leaf. The bits of SHA-256 of the owner,
 * most significant first, are the path from the root to the leaf. A subtree with one leaf is replaced by that
 * leaf. The hash of an empty subtree is 32 zero bytes.
 */
const LEAF = 0;
const NODE = 1;
const KEY_BITS = 256;
const POSITION_BYTES = 8;
const HASH_BYTES = ZERO_HASH.length;
/** A buffer for the two hashes of a node, reused to save allocations in a large map. */
const pair = new Uint8Array(1 + 2 * HASH_BYTES);

const hash = () => Type.String({ pattern: HASH_PATTERN });

/** The proof that a map contains a head, or that it contains no head of the owner. */
export const MapProof = Type.Object(
  {
    /** The sibling hashes on the path to the root, from the leaf up. */
    path: Type.Array(hash(), { maxItems: KEY_BITS }),
    /** The leaf at the end of the owner's path, if that leaf belongs to another owner. */
    other: Type.Optional(Type.Object({ key: hash(), value: hash() }, { additionalProperties: false })),
  },
  { additionalProperties: false },
);
export type MapProof = Static<typeof MapProof>;

function mapKey(owner: string): Hash {
  return sha256(owner);
}

/** Returns the value of a head: SHA-256 of its position (8 big-endian bytes) followed by its chain hash. */
export function mapValue({ position, chain }: Pick<Head, "position" | "chain">): Hash {
  const bytes = new Uint8Array(POSITION_BYTES + HASH_BYTES);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(position));
  bytes.set(chain, POSITION_BYTES);
  return sha256(bytes);
}

export function mapLeaf(key: Hash, value: Hash): Hash {
  return hashOfPair(LEAF, key, value);
}

function mapNode(left: Hash, right: Hash): Hash {
  return hashOfPair(NODE, left, right);
}

function hashOfPair(prefix: number, left: Hash, right: Hash): Hash {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) {
    throw new RangeError(`A hash of the map of heads has ${HASH_BYTES} bytes.`);
  }
  pair[0] = prefix;
  pair.set(left, 1);
  pair.set(right, 1 + HASH_BYTES);
  return sha256(pair);
}

/**
 * Returns whether the map with this root contains the head. For a head at position 0, returns whether the map
 * contains no head of the owner.
 */
export function isInMap(head: Head, proof: MapProof, root: Hash): boolean {
  const key = mapKey(head.owner);
  if (head.position === 0) return sameHash(head.chain, ZERO_HASH) && isAbsent(key, proof, root);
  return proof.other === undefined && leadsTo(key, mapLeaf(key, mapValue(head)), proof, root);
}

function isAbsent(key: Hash, proof: MapProof, root: Hash): boolean {
  const { path, other } = proof;
  if (other === undefined) return leadsTo(key, ZERO_HASH, proof, root);
  const otherKey = hashFromHex(other.key);
  if (sameHash(key, otherKey)) return false;
  // The other leaf must be on the path of the key.
  for (let level = 0; level < path.length; level++)
    if (bitOf(key, level) !== bitOf(otherKey, level)) return false;
  return leadsTo(key, mapLeaf(otherKey, hashFromHex(other.value)), proof, root);
}

function leadsTo(key: Hash, leaf: Hash, { path }: MapProof, root: Hash): boolean {
  let hash = leaf;
  for (const [index, text] of path.entries()) {
    const beside = hashFromHex(text);
    hash = bitOf(key, path.length - 1 - index) === 0 ? mapNode(hash, beside) : mapNode(beside, hash);
  }
  return sameHash(hash, root);
}

function bitOf(key: Hash, level: number): number {
  return ((key[level >> 3] ?? 0) >> (7 - (level & 7))) & 1;
}

/** A subtree of the map: its hash, and whether it consists of a single leaf. */
export interface Subtree {
  hash: Hash;
  isLeaf: boolean;
}

/** Returns the subtree that joins two subtrees. Null stands for an empty subtree. */
export function joinedSubtree(left: Subtree | null, right: Subtree | null): Subtree | null {
  if (left === null && (right === null || right.isLeaf)) return right;
  if (right === null && left?.isLeaf) return left;
  return { hash: mapNode(left?.hash ?? ZERO_HASH, right?.hash ?? ZERO_HASH), isLeaf: false };
}

/** Returns the key of an owner in hexadecimal. Each digit is one step down the stored tree. */
export function mapSteps(owner: string): string {
  return hexOf(mapKey(owner));
}

/** A leaf of the tree: the map of heads as one pass of the sealer left it. */
export const Leaf = Type.Object(
  {
    /** The index of the leaf in the tree, counted from 0. */
    number: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    /** The time of the pass. It is never before the time of the previous leaf. */
    sealed_at: Type.String({ pattern: TIME_PATTERN }),
    /** The root of the map of heads. */
    map: Type.String({ pattern: HASH_PATTERN }),
  },
  { additionalProperties: false },
);
export type Leaf = Static<typeof Leaf>;

/** Returns a leaf as the tree holds it: canonical JSON. */
export function leafText({ number, sealed_at, map }: Leaf): string {
  return canonicalJson({ map, number, sealed_at });
}
