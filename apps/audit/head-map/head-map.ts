import { type Hash, hashFromHex, mapSteps, sameHash, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { encodedNode, hashOfNode, isLeaf, type MapNode, type NodeRef, SLOTS, type Slot } from "./node.ts";
import { selectNodes } from "./queries.ts";

/** The maximum number of nodes that a sealer remembers: those nearest to the root, which all heads share. */
const CACHED_MAX = 10_000;

/** Nodes that were read or written lately, by their digits. A node is current while its hash is. */
export class NodeCache {
  readonly #nodes = new Map<string, { hash: Hash; node: MapNode }>();

  get(path: string, hash: Hash): MapNode | null {
    const known = this.#nodes.get(path);
    return known !== undefined && sameHash(known.hash, hash) ? known.node : null;
  }

  put(path: string, hash: Hash, node: MapNode): void {
    if (this.#nodes.size < CACHED_MAX || this.#nodes.has(path)) this.#nodes.set(path, { hash, node });
    else if (path.length <= 2) {
      const deepest = this.#nodes.keys().find((known) => known.length > 2);
      if (deepest !== undefined) this.#nodes.delete(deepest);
      this.#nodes.set(path, { hash, node });
    }
  }
}

/** A node that a checkpoint adds to the map, in base64. */
export interface NodeWrite {
  path: string;
  node: string;
}

/** The head of an owner in the map. */
export interface MapHead {
  position: number;
  chain: Hash;
}

/** A node that is gone, or differs from what was signed. */
const LOST = "lost";

/**
 * The part of the map of heads under one checkpoint that leads to some owners. Every node was compared with the
 * root, so what the map says is what was signed.
 */
export class HeadMap {
  readonly #cache: NodeCache;
  readonly #nodes = new Map<string, { slots: (Slot | null)[]; isMoved: boolean } | typeof LOST>();

  private constructor(cache: NodeCache) {
    this.#cache = cache;
  }

  /** Reads the ways of these owners under a root; null is the map before the first checkpoint. */
  static async open(
    database: Database,
    cache: NodeCache,
    root: NodeRef | null,
    owners: readonly string[],
  ): Promise<HeadMap> {
    const map = new HeadMap(cache);
    if (root === null) {
      map.#nodes.set("", { slots: emptySlots(), isMoved: false });
      return map;
    }
    await map.#load(database, new Map([["", root]]));
    let ways = owners.map(mapSteps);
    for (let depth = 0; ways.length > 0; depth++) {
      const below = new Map<string, NodeRef>();
      ways = ways.filter((way) => {
        const slot = map.#slotAt(way, depth);
        if (slot === null || slot === LOST || isLeaf(slot)) return false;
        below.set(way.slice(0, depth + 1), slot);
        return true;
      });
      await map.#load(database, below);
    }
    return map;
  }

  /** Whether the root itself is gone, so that nothing can be told about any owner. */
  get isLost(): boolean {
    return this.#nodes.get("") === LOST;
  }

  /** Returns the head of an owner, null if the map has none, or `lost` if a node on its way is gone. */
  headOf(owner: string): MapHead | null | typeof LOST {
    const way = mapSteps(owner);
    for (let depth = 0; ; depth++) {
      const slot = this.#slotAt(way, depth);
      if (slot === null || slot === LOST) return slot;
      if (isLeaf(slot)) return slot.key === way ? slot : null;
    }
  }

  /** Sets the head of an owner whose way was read. */
  set(owner: string, { position, chain }: MapHead): void {
    const way = mapSteps(owner);
    const leaf = { key: way, position, chain };
    for (let depth = 0; ; depth++) {
      const slots = this.#movedSlots(way.slice(0, depth));
      const at = digitOf(way, depth);
      const slot = slots[at] ?? null;
      if (slot === null || (isLeaf(slot) && slot.key === way)) {
        slots[at] = leaf;
        return;
      }
      if (isLeaf(slot)) {
        // two heads share the digits so far: both go one node down
        const below = emptySlots();
        below[digitOf(slot.key, depth + 1)] = slot;
        this.#nodes.set(way.slice(0, depth + 1), { slots: below, isMoved: true });
        slots[at] = { checkpoint: 0, hash: ZERO_HASH };
      }
    }
  }

  /** Returns the new root, and the nodes that the checkpoint with this number writes. */
  sealed(number: number): { root: Hash; nodes: NodeWrite[] } {
    const nodes: NodeWrite[] = [];
    const root = this.#sealNode("", number, nodes);
    return { root, nodes };
  }

  #sealNode(path: string, number: number, nodes: NodeWrite[]): Hash {
    const slots = this.#movedSlots(path);
    for (const [index, slot] of slots.entries()) {
      const below = `${path}${index.toString(SLOTS)}`;
      const node = this.#nodes.get(below);
      if (slot === null || isLeaf(slot) || node === undefined || node === LOST || !node.isMoved) continue;
      slots[index] = { checkpoint: number, hash: this.#sealNode(below, number, nodes) };
    }
    const hash = hashOfNode(slots);
    nodes.push({ path, node: encodedNode(slots).toString("base64") });
    this.#cache.put(path, hash, slots);
    return hash;
  }

  #slotAt(way: string, depth: number): Slot | null | typeof LOST {
    const node = this.#nodes.get(way.slice(0, depth));
    if (node === undefined) throw new Error("The way of an owner in the map of heads was not read.");
    return node === LOST ? LOST : (node.slots[digitOf(way, depth)] ?? null);
  }

  #movedSlots(path: string): (Slot | null)[] {
    const node = this.#nodes.get(path);
    if (node === undefined || node === LOST) throw new Error("A node of the map of heads was not read.");
    node.isMoved = true;
    return node.slots;
  }

  async #load(database: Database, refs: ReadonlyMap<string, NodeRef>): Promise<void> {
    const missing: { path: string; ref: NodeRef }[] = [];
    for (const [path, ref] of refs) {
      const known = this.#cache.get(path, ref.hash);
      if (known === null) missing.push({ path, ref });
      else this.#nodes.set(path, { slots: [...known], isMoved: false });
    }
    if (missing.length === 0) return;
    const found = await selectNodes(
      database,
      missing.map(({ path, ref }) => ({ path, checkpoint: ref.checkpoint })),
    );
    for (const [index, { path, ref }] of missing.entries()) {
      const node = found[index] ?? null;
      const isSigned = node !== null && sameHash(hashOfNode(node), ref.hash);
      this.#nodes.set(path, isSigned ? { slots: [...node], isMoved: false } : LOST);
      if (isSigned) this.#cache.put(path, ref.hash, node);
    }
  }
}

/** Returns the reference to the root of the map that a checkpoint signs. */
export function rootOf(number: number, map: string): NodeRef {
  return { checkpoint: number, hash: hashFromHex(map) };
}

function emptySlots(): (Slot | null)[] {
  return Array.from({ length: SLOTS }, () => null);
}

function digitOf(way: string, depth: number): number {
  return Number.parseInt(way.charAt(depth), SLOTS);
}
