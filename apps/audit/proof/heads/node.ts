import {
  type Hash,
  hashFromHex,
  joinedSubtree,
  mapLeaf,
  mapValueOfBytes,
  type Subtree,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";

/** The head of an owner; `key` is SHA-256 of the owner, in hexadecimal. */
export interface LeafSlot {
  key: string;
  position: number;
  chain: Hash;
}

/** A reference to a child node: its hash, and the number of the leaf that wrote it. */
export interface NodeRef {
  version: number;
  hash: Hash;
}

export type Slot = LeafSlot | NodeRef;

export const SLOTS = 16;
export const LEVELS = 4;
const HASH_BYTES = 32;
const NUMBER_BYTES = 8;
const BITMAP_BYTES = 2;
const HEAD_BYTES = 2 * BITMAP_BYTES;
const REF_BYTES = NUMBER_BYTES + HASH_BYTES;
const LEAF_BYTES = HASH_BYTES + REF_BYTES;

export function isLeaf(slot: Slot): slot is LeafSlot {
  return "key" in slot;
}

/** The subtrees of a node; undefined for one that is not computed yet, null for an empty one. */
type Subtrees = (Subtree | null | undefined)[];
const UNKNOWN: Readonly<Subtrees> = Array.from({ length: 2 * SLOTS }, () => undefined);

/**
 * A stored node of the map of heads: four levels of the tree, with a slot for each hexadecimal digit. Stored nodes
 * never change: each leaf of the tree writes new nodes on the paths to the heads that changed.
 *
 * In memory a node keeps its stored bytes: a bitmap of used slots, a bitmap of leaves, and the used slots in order.
 * The node caches the hashes of its subtrees, so a changed slot costs only the hashes above the slot.
 */
export class MapNode {
  static readonly EMPTY = new MapNode(Buffer.alloc(HEAD_BYTES), UNKNOWN.slice());

  readonly bytes: Buffer;
  /** The same bytes as a plain Uint8Array, which is faster to slice than a Buffer. */
  readonly #view: Uint8Array;
  readonly #taken: number;
  readonly #leaves: number;
  /**
   * The subtrees, indexed as in a binary heap. The whole node is at 1, and slot `n` is at `16 + n`. The
   * children of the subtree at `p` are at `2p` and `2p + 1`.
   */
  readonly #subtrees: Subtrees;

  private constructor(bytes: Buffer, subtrees: Subtrees) {
    this.bytes = bytes;
    this.#view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#taken = bytes.readUInt16BE(0);
    this.#leaves = bytes.readUInt16BE(BITMAP_BYTES) & this.#taken;
    this.#subtrees = subtrees;
  }

  /** Reads a stored node; returns null for bytes that are not a node. */
  static read(bytes: Buffer): MapNode | null {
    if (bytes.length < HEAD_BYTES) return null;
    const node = new MapNode(bytes, UNKNOWN.slice());
    return bytes.length === node.#offsetOf(SLOTS) ? node : null;
  }

  get hash(): Hash {
    return this.subtree(1)?.hash ?? ZERO_HASH;
  }

  /** Returns the subtree at an index of the heap; null if the subtree is empty. */
  subtree(place: number): Subtree | null {
    const known = this.#subtrees[place];
    if (known !== undefined) return known;
    const found =
      place < SLOTS
        ? joinedSubtree(this.subtree(2 * place), this.subtree(2 * place + 1))
        : this.#subtreeOfSlot(place - SLOTS);
    this.#subtrees[place] = found;
    return found;
  }

  slot(index: number): Slot | null {
    const ref = this.ref(index);
    if (ref !== null || !this.#isTaken(index)) return ref;
    const at = this.#offsetOf(index);
    return {
      key: this.bytes.toString("hex", at, at + HASH_BYTES),
      position: Number(this.bytes.readBigUInt64BE(at + HASH_BYTES)),
      chain: this.#hashAt(at + LEAF_BYTES - HASH_BYTES),
    };
  }

  /** Returns the reference to a child node in a slot; null for a leaf and for an empty slot. */
  ref(index: number): NodeRef | null {
    if (!this.#isTaken(index) || this.#isLeaf(index)) return null;
    const at = this.#offsetOf(index);
    return { version: Number(this.bytes.readBigUInt64BE(at)), hash: this.#hashAt(at + NUMBER_BYTES) };
  }

  /** Returns a copy of the node in which these slots are replaced, by their index. */
  with(changed: ReadonlyMap<number, Slot>): MapNode {
    let [taken, leaves] = [this.#taken, this.#leaves];
    const subtrees = this.#subtrees.slice();
    for (const [index, slot] of changed) {
      const bit = 1 << index;
      taken |= bit;
      leaves = isLeaf(slot) ? leaves | bit : leaves & ~bit;
      for (let place = SLOTS + index; place > 0; place >>= 1) subtrees[place] = undefined;
    }
    const bytes = Buffer.allocUnsafeSlow(offsetOf(SLOTS, taken, leaves));
    let at = bytes.writeUInt16BE(leaves, bytes.writeUInt16BE(taken, 0));
    for (let index = 0; index < SLOTS; index++) {
      const slot = changed.get(index);
      if (slot !== undefined) at = writeSlot(bytes, at, slot);
      else at += this.bytes.copy(bytes, at, this.#offsetOf(index), this.#offsetOf(index + 1));
    }
    return new MapNode(bytes, subtrees);
  }

  #subtreeOfSlot(index: number): Subtree | null {
    if (!this.#isTaken(index)) return null;
    const [at, end] = [this.#offsetOf(index), this.#offsetOf(index + 1)];
    if (!this.#isLeaf(index)) return { hash: this.#hashAt(at + NUMBER_BYTES), isLeaf: false };
    const value = mapValueOfBytes(this.#view.subarray(at + HASH_BYTES, end));
    return { hash: mapLeaf(this.#view.subarray(at, at + HASH_BYTES), value), isLeaf: true };
  }

  #isTaken(index: number): boolean {
    return (this.#taken & (1 << index)) !== 0;
  }

  #isLeaf(index: number): boolean {
    return (this.#leaves & (1 << index)) !== 0;
  }

  #offsetOf(index: number): number {
    return offsetOf(index, this.#taken, this.#leaves);
  }

  #hashAt(at: number): Hash {
    return this.#view.slice(at, at + HASH_BYTES);
  }
}

/** Returns the offset of a slot in a node with these bitmaps. */
function offsetOf(index: number, taken: number, leaves: number): number {
  const before = (1 << index) - 1;
  return HEAD_BYTES + REF_BYTES * onesOf(taken & before) + (LEAF_BYTES - REF_BYTES) * onesOf(leaves & before);
}

function onesOf(bits: number): number {
  let ones = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) ones += 1;
  return ones;
}

/** Writes a slot and returns the offset of its end. */
function writeSlot(bytes: Buffer, start: number, slot: Slot): number {
  let at = start;
  if (isLeaf(slot)) {
    bytes.set(hashFromHex(slot.key), at);
    at = bytes.writeBigUInt64BE(BigInt(slot.position), at + HASH_BYTES);
    bytes.set(slot.chain, at);
  } else {
    at = bytes.writeBigUInt64BE(BigInt(slot.version), at);
    bytes.set(slot.hash, at);
  }
  return at + HASH_BYTES;
}
