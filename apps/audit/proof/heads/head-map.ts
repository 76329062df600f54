import { type Hash, hashFromHex, mapSteps, sameHash, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { isLeaf, MapNode, type NodeRef, SLOTS, type Slot } from "./node.ts";
import { type NodePlace, selectNodes } from "./nodes-sql.ts";

/** The number of nodes after which a cache drops those that it got before the newest of them. */
const GENERATION = 10_000;

/** Nodes that were recently read or written, by their paths. A cached node is used only if it has the expected hash. */
export class NodeCache {
  #young = new Map<string, MapNode>();
  #old = new Map<string, MapNode>();

  get(path: string, hash: Hash): MapNode | null {
    const known = this.#young.get(path) ?? this.#old.get(path);
    return known !== undefined && sameHash(known.hash, hash) ? known : null;
  }

  put(path: string, node: MapNode): void {
    // deleting keys one by one makes a Map slow
    if (this.#young.size >= GENERATION) [this.#old, this.#young] = [this.#young, new Map()];
    this.#young.set(path, node);
  }
}

/** A node that a leaf adds to the map, in base64. */
export interface NodeWrite {
  path: string;
  node: string;
}

export interface MapHead {
  position: number;
  chain: Hash;
}

/** A reference to a changed child node, until the hash of the child is computed. */
const UNSEALED: NodeRef = { version: 0, hash: ZERO_HASH };

/** A node that was read, with its pending changes. */
interface Branch {
  node: MapNode;
  changed: Map<number, Slot>;
}

/**
 * The part of a leaf's map of heads that leads to a set of owners. Every node was verified against the
 * signed root.
 */
export class HeadMap {
  readonly #cache: NodeCache;
  /** The nodes by their paths. A node that is gone, or differs from the signed one, is missing. */
  readonly #branches = new Map<string, Branch>();

  private constructor(cache: NodeCache) {
    this.#cache = cache;
  }

  /**
   * Reads the nodes that lead from a root to these owners, one statement for each level. A null root is the empty map
   * before the first leaf.
   */
  static async open(
    orm: Orm,
    cache: NodeCache,
    root: NodeRef | null,
    owners: readonly string[],
  ): Promise<HeadMap> {
    const map = new HeadMap(cache);
    if (root === null) map.#branches.set("", branchOf(MapNode.EMPTY));
    const keys = owners.map(mapSteps);
    let wanted = new Map(root === null ? [] : [["", root]]);
    for (let depth = 0; wanted.size > 0; depth++) {
      await map.#read(orm, wanted);
      const below = keys.flatMap((key): [string, NodeRef][] => {
        const branch = map.#branches.get(key.slice(0, depth));
        const slot = branch === undefined ? null : slotOf(branch, digitOf(key, depth));
        return slot === null || isLeaf(slot) ? [] : [[key.slice(0, depth + 1), slot]];
      });
      wanted = new Map(below);
    }
    return map;
  }

  /** Whether the stored root is missing or differs from the signed one. The map then cannot return any head. */
  get isLost(): boolean {
    return !this.#branches.has("");
  }

  /** Returns the head of an owner, or null if the owner has no head. Returns `lost` if a node on the path is gone. */
  headOf(owner: string): MapHead | null | "lost" {
    const key = mapSteps(owner);
    for (let depth = 0; ; depth++) {
      const branch = this.#branches.get(key.slice(0, depth));
      if (branch === undefined) return "lost";
      const slot = slotOf(branch, digitOf(key, depth));
      if (slot === null) return null;
      if (isLeaf(slot)) return slot.key === key ? slot : null;
    }
  }

  /** Sets the head of an owner that was passed to {@link HeadMap.open}. */
  set(owner: string, head: MapHead): void {
    this.setKey(mapSteps(owner), head);
  }

  /** Sets the head of the owner with a key; see {@link HeadMap.set}. */
  setKey(key: string, { position, chain }: MapHead): void {
    for (let depth = 0; ; depth++) {
      const branch = this.#branch(key.slice(0, depth));
      const digit = digitOf(key, depth);
      const slot = slotOf(branch, digit);
      if (slot === null || (isLeaf(slot) && slot.key === key)) {
        branch.changed.set(digit, { key, position, chain });
        return;
      }
      if (isLeaf(slot)) {
        // two heads share the digits so far: both move to a new child node
        const below = branchOf(MapNode.EMPTY);
        below.changed.set(digitOf(slot.key, depth + 1), slot);
        this.#branches.set(key.slice(0, depth + 1), below);
      }
      branch.changed.set(digit, UNSEALED);
    }
  }

  /** Returns the new root, and the nodes that the leaf with this number writes. */
  sealed(version: number): { root: Hash; nodes: NodeWrite[] } {
    const nodes: NodeWrite[] = [];
    let root = this.#branch("").node.hash;
    for (const path of [...this.#branches.keys()].toSorted((a, b) => b.length - a.length)) {
      const { node: before, changed } = this.#branch(path);
      if (changed.size === 0 && path !== "") continue;
      const node = before.with(changed);
      nodes.push({ path, node: node.bytes.toString("base64") });
      this.#cache.put(path, node);
      if (path === "") root = node.hash;
      else {
        const parent = this.#branch(path.slice(0, -1));
        parent.changed.set(digitOf(path, path.length - 1), { version, hash: node.hash });
      }
    }
    return { root, nodes };
  }

  #branch(path: string): Branch {
    const branch = this.#branches.get(path);
    if (branch === undefined) throw new Error("A node of the map of heads is gone, or was not read.");
    return branch;
  }

  async #read(orm: Orm, wanted: ReadonlyMap<string, NodeRef>): Promise<void> {
    const missing: NodePlace[] = [];
    for (const [path, ref] of wanted) {
      const known = this.#cache.get(path, ref.hash);
      if (known === null) missing.push({ path, ...ref });
      else this.#branches.set(path, branchOf(known));
    }
    const stored = missing.length === 0 ? [] : await selectNodes(orm, missing);
    for (const [index, { path }] of missing.entries()) {
      const node = stored[index] ?? null;
      if (node === null) continue;
      this.#cache.put(path, node);
      this.#branches.set(path, branchOf(node));
    }
  }
}

function branchOf(node: MapNode): Branch {
  return { node, changed: new Map() };
}

function slotOf({ node, changed }: Branch, digit: number): Slot | null {
  return changed.get(digit) ?? node.slot(digit);
}

/** Returns the reference to the root of the map of a stored leaf. */
export function rootOf({ number, map }: { number: number; map: string }): NodeRef {
  return { version: Number(number), hash: hashFromHex(map) };
}

function digitOf(key: string, depth: number): number {
  return Number.parseInt(key.charAt(depth), SLOTS);
}
