import {
  type Hash,
  hashFromHex,
  joinedSubtree,
  mapLeaf,
  mapValue,
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
const HEAD_BYTES = 4;
const REF_BYTES = NUMBER_BYTES + HASH_BYTES;
const INDEXES = Array.from({ length: SLOTS }, (_, index) => index);

export function isLeaf(slot: Slot): slot is LeafSlot {
  return "key" in slot;
}

/**
 * A stored node of the map of heads: four levels of the tree, with a slot for each hexadecimal digit. Stored nodes
 * never change: each leaf of the tree writes new nodes on the paths to the heads that changed.
 *
 * The bytes are a bitmap of used slots, a bitmap of leaves, and the used slots in order: for a leaf its key, and for
 * each slot a number and a hash.
 */
export class MapNode {
  static readonly EMPTY = new MapNode(INDEXES.map(() => null));

  readonly slots: readonly (Slot | null)[];
  /**
   * The subtrees, indexed as in a binary heap: the whole node is at 1, slot `n` at `16 + n`, and the children of the
   * subtree at `p` are at `2p` and `2p + 1`. Undefined for one that is not computed yet, null for an empty one.
   */
  readonly #subtrees: (Subtree | null | undefined)[];

  private constructor(slots: readonly (Slot | null)[], subtrees: (Subtree | null | undefined)[] = []) {
    this.slots = slots;
    this.#subtrees = subtrees;
  }

  /** Reads a stored node; returns null for bytes that are not a node. */
  static read(bytes: Buffer): MapNode | null {
    if (bytes.length < HEAD_BYTES) return null;
    const [taken, leaves] = [bytes.readUInt16BE(0), bytes.readUInt16BE(HEAD_BYTES / 2)];
    const has = (bits: number, index: number) => ((bits >> index) & 1) === 1;
    const sizes = INDEXES.map((index) => {
      if (!has(taken, index)) return 0;
      return REF_BYTES + (has(leaves, index) ? HASH_BYTES : 0);
    });
    if (sizes.reduce((sum, size) => sum + size, HEAD_BYTES) !== bytes.length) return null;
    let end = HEAD_BYTES;
    const slots = sizes.map((size): Slot | null => {
      if (size === 0) return null;
      end += size;
      const at = end - REF_BYTES;
      const number = Number(bytes.readBigUInt64BE(at));
      const hash = new Uint8Array(bytes.subarray(at + NUMBER_BYTES, end));
      if (size === REF_BYTES) return { version: number, hash };
      return { key: bytes.toString("hex", at - HASH_BYTES, at), position: number, chain: hash };
    });
    // the hash of a node does not cover the versions of its children
    if (slots.some((slot) => slot !== null && !isLeaf(slot) && !Number.isSafeInteger(slot.version)))
      return null;
    return new MapNode(slots);
  }

  get bytes(): Buffer {
    let [taken, leaves] = [0, 0];
    const parts = this.slots.flatMap((slot, index) => {
      if (slot === null) return [];
      taken |= 1 << index;
      const number = Buffer.alloc(NUMBER_BYTES);
      number.writeBigUInt64BE(BigInt(isLeaf(slot) ? slot.position : slot.version));
      if (!isLeaf(slot)) return [number, slot.hash];
      leaves |= 1 << index;
      return [hashFromHex(slot.key), number, slot.chain];
    });
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt16BE(leaves, head.writeUInt16BE(taken));
    return Buffer.concat([head, ...parts]);
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
        : subtreeOf(this.slot(place - SLOTS));
    this.#subtrees[place] = found;
    return found;
  }

  slot(index: number): Slot | null {
    return this.slots[index] ?? null;
  }

  /** Returns a copy of the node in which these slots are replaced, by their index. */
  with(changed: ReadonlyMap<number, Slot>): MapNode {
    const slots = this.slots.map((slot, index) => changed.get(index) ?? slot);
    const subtrees = this.#subtrees.slice();
    for (const index of changed.keys())
      for (let place = SLOTS + index; place > 0; place >>= 1) subtrees[place] = undefined;
    return new MapNode(slots, subtrees);
  }
}

function subtreeOf(slot: Slot | null): Subtree | null {
  if (slot === null) return null;
  if (!isLeaf(slot)) return { hash: slot.hash, isLeaf: false };
  return { hash: mapLeaf(hashFromHex(slot.key), mapValue(slot)), isLeaf: true };
}
