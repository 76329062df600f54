import {
  type Hash,
  hashFromHex,
  joinedSubtree,
  mapLeaf,
  mapValue,
  type Subtree,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";

/**
 * A stored node of the map of heads: four levels of the tree, with a slot for each hexadecimal digit. It is
 * never changed: each checkpoint writes the nodes that lead to a head that moved.
 */
export type MapNode = readonly (Slot | null)[];

/** The head of an owner; `key` is SHA-256 of the owner, in hexadecimal. */
export interface LeafSlot {
  key: string;
  position: number;
  chain: Hash;
}

/** A node below, as the checkpoint with this number wrote it. */
export interface NodeRef {
  checkpoint: number;
  hash: Hash;
}

export type Slot = LeafSlot | NodeRef;

export const SLOTS = 16;
const HASH_BYTES = 32;
const NUMBER_BYTES = 8;
const BITMAP_BYTES = 2;
const LEAF_BYTES = 2 * HASH_BYTES + NUMBER_BYTES;
const REF_BYTES = NUMBER_BYTES + HASH_BYTES;

export function isLeaf(slot: Slot): slot is LeafSlot {
  return "key" in slot;
}

/** Returns the subtree over the slots of a node, from `start` to before `end`. */
export function subtreeOf(node: MapNode, start = 0, end = SLOTS): Subtree | null {
  if (end - start > 1) {
    const middle = (start + end) / 2;
    return joinedSubtree(subtreeOf(node, start, middle), subtreeOf(node, middle, end));
  }
  const slot = node[start] ?? null;
  if (slot === null) return null;
  if (!isLeaf(slot)) return { hash: slot.hash, isLeaf: false };
  return { hash: mapLeaf(hashFromHex(slot.key), mapValue(slot)), isLeaf: true };
}

export function hashOfNode(node: MapNode): Hash {
  return subtreeOf(node)?.hash ?? ZERO_HASH;
}

/** Returns a node as it is stored: which slots are taken, which are leaves, and the slots in their order. */
export function encodedNode(node: MapNode): Buffer {
  const slots = node.filter((slot) => slot !== null);
  const length = slots.reduce((sum, slot) => sum + (isLeaf(slot) ? LEAF_BYTES : REF_BYTES), 2 * BITMAP_BYTES);
  const bytes = Buffer.alloc(length);
  bytes.writeUInt16BE(bitmapOf(node, (slot) => slot !== null));
  bytes.writeUInt16BE(
    bitmapOf(node, (slot) => slot !== null && isLeaf(slot)),
    BITMAP_BYTES,
  );
  let at = 2 * BITMAP_BYTES;
  for (const slot of slots) {
    if (isLeaf(slot)) {
      at += bytes.write(slot.key, at, "hex");
      at = bytes.writeBigUInt64BE(BigInt(slot.position), at);
      bytes.set(slot.chain, at);
    } else {
      at = bytes.writeBigUInt64BE(BigInt(slot.checkpoint), at);
      bytes.set(slot.hash, at);
    }
    at += HASH_BYTES;
  }
  return bytes;
}

function bitmapOf(node: MapNode, isSet: (slot: Slot | null) => boolean): number {
  return node.reduce((bits, slot, index) => bits | (isSet(slot) ? 1 << index : 0), 0);
}

/** Reads a stored node; returns null for bytes that are not one. */
export function decodedNode(bytes: Buffer): MapNode | null {
  if (bytes.length < 2 * BITMAP_BYTES) return null;
  const [taken, leaves] = [bytes.readUInt16BE(0), bytes.readUInt16BE(BITMAP_BYTES)];
  const node: (Slot | null)[] = [];
  let at = 2 * BITMAP_BYTES;
  for (let index = 0; index < SLOTS; index++) {
    const bit = 1 << index;
    if ((taken & bit) === 0) {
      node.push(null);
      continue;
    }
    const size = (leaves & bit) === 0 ? REF_BYTES : LEAF_BYTES;
    if (bytes.length < at + size) return null;
    node.push(slotOf(bytes.subarray(at, at + size)));
    at += size;
  }
  return at === bytes.length ? node : null;
}

function slotOf(bytes: Buffer): Slot {
  const tail = new Uint8Array(bytes.subarray(-HASH_BYTES));
  if (bytes.length === REF_BYTES) return { checkpoint: Number(bytes.readBigUInt64BE()), hash: tail };
  return {
    key: bytes.toString("hex", 0, HASH_BYTES),
    position: Number(bytes.readBigUInt64BE(HASH_BYTES)),
    chain: tail,
  };
}
