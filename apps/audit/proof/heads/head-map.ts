import { type Hash, hashFromHex, mapSteps, sameHash, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { isLeaf, type LeafSlot, MapNode, type NodeRef, SLOTS, type Slot } from "./node.ts";
import { type NodePlace, selectNodes } from "./nodes-sql.ts";

/** The depth down to which a sealer caches every node: at most 4369 nodes, which many heads share. */
const SHARED_DEPTH = 3;
/** The maximum number of deeper nodes that a sealer caches. */
const CACHED_MAX = 10_000;

const DIGIT_0 = "0".charCodeAt(0);
const LETTER_A = "a".charCodeAt(0);

/**
 * Nodes that were recently read or written, by their paths. A cached node is used only if it has the expected hash.
 */
export class NodeCache {
  readonly #shared = new Map<string, MapNode>();
  /**
   * Two generations of nodes below `SHARED_DEPTH`. The older generation is dropped at once, because deleting keys
   * one by one makes a Map slow.
   */
  #young = new Map<string, MapNode>();
  #old = new Map<string, MapNode>();

  get(path: string, hash: Hash): MapNode | null {
    const known =
      path.length <= SHARED_DEPTH ? this.#shared.get(path) : (this.#young.get(path) ?? this.#old.get(path));
    return known !== undefined && sameHash(known.hash, hash) ? known : null;
  }

  put(path: string, node: MapNode): void {
    if (path.length <= SHARED_DEPTH) {
      this.#shared.set(path, node);
      return;
    }
    if (this.#young.size >= CACHED_MAX / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
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

/** Stands for a node that is missing, or whose hash differs from the signed one. */
const LOST = "lost";

/** A placeholder in the slot of a changed child node, until the hash of the child is computed. */
const UNSEALED: NodeRef = { version: 0, hash: ZERO_HASH };

/** A node that was read, with its pending changes. */
interface Branch {
  node: MapNode;
  /** The changed slots, by the next digit of the path. */
  changed: Map<number, Slot>;
  /** The child nodes that were read, by the next digit of the path. */
  below: Map<number, Branch | typeof LOST>;
}

interface Wanted {
  path: string;
  ref: NodeRef;
}

/**
 * The part of a leaf's map of heads that leads to a set of owners. Every node was verified against the
 * signed root.
 */
export class HeadMap {
  readonly #cache: NodeCache;
  #root: Branch | typeof LOST = branchOf(MapNode.EMPTY);

  private constructor(cache: NodeCache) {
    this.#cache = cache;
  }

  /**
   * Reads the nodes that lead from a root to these owners. A null root is the empty map before the first
   * leaf.
   */
  static async open(
    orm: Orm,
    cache: NodeCache,
    root: NodeRef | null,
    owners: readonly string[],
  ): Promise<HeadMap> {
    const map = new HeadMap(cache);
    if (root === null) return map;
    const [top = LOST] = await map.#read(orm, [{ path: "", ref: root }]);
    map.#root = top;
    let ways = top === LOST ? [] : owners.map((owner) => ({ way: mapSteps(owner), branch: top }));
    for (let depth = 0; ways.length > 0; depth++) {
      await map.#readBelow(orm, depth, ways);
      ways = ways.flatMap(({ way, branch }) => {
        const below = branch.below.get(digitOf(way, depth)) ?? LOST;
        return below === LOST ? [] : [{ way, branch: below }];
      });
    }
    return map;
  }

  /**
   * Whether the stored root is missing or differs from the signed one. The map then cannot return any head.
   */
  get isLost(): boolean {
    return this.#root === LOST;
  }

  /** Returns the head of an owner, or null if the owner has no head. Returns `lost` if a node on the way is gone. */
  headOf(owner: string): MapHead | null | typeof LOST {
    const way = mapSteps(owner);
    let branch = this.#root;
    for (let depth = 0; branch !== LOST; depth++) {
      const digit = digitOf(way, depth);
      const below = branch.below.get(digit);
      if (below === undefined) {
        const leaf = leafOf(branch, digit);
        return leaf?.key === way ? leaf : null;
      }
      branch = below;
    }
    return LOST;
  }

  /** Sets the head of an owner that was passed to {@link HeadMap.open}. */
  set(owner: string, { position, chain }: MapHead): void {
    const way = mapSteps(owner);
    let branch = foundOf(this.#root);
    for (let depth = 0; ; depth++) {
      const digit = digitOf(way, depth);
      if (!branch.below.has(digit)) {
        const leaf = leafOf(branch, digit);
        if (leaf === null || leaf.key === way) {
          branch.changed.set(digit, { key: way, position, chain });
          return;
        }
        // two heads share the digits so far: both move to a new child node
        const below = branchOf(MapNode.EMPTY);
        below.changed.set(digitOf(leaf.key, depth + 1), leaf);
        branch.below.set(digit, below);
      }
      branch.changed.set(digit, UNSEALED);
      branch = belowOf(branch, digit);
    }
  }

  /** Returns the new root, and the nodes that the leaf with this number writes. */
  sealed(version: number): { root: Hash; nodes: NodeWrite[] } {
    const nodes: NodeWrite[] = [];
    const root = this.#sealBranch("", foundOf(this.#root), version, nodes);
    return { root, nodes };
  }

  #sealBranch(path: string, branch: Branch, version: number, nodes: NodeWrite[]): Hash {
    for (const [digit, slot] of branch.changed) {
      if (isLeaf(slot)) continue;
      const below = `${path}${digit.toString(SLOTS)}`;
      const hash = this.#sealBranch(below, belowOf(branch, digit), version, nodes);
      branch.changed.set(digit, { version, hash });
    }
    const node = branch.node.with(branch.changed);
    nodes.push({ path, node: node.bytes.toString("base64") });
    this.#cache.put(path, node);
    return node.hash;
  }

  /** Reads one level of the map: the child nodes of branches that lead to owners. */
  async #readBelow(orm: Orm, depth: number, ways: readonly { way: string; branch: Branch }[]): Promise<void> {
    const wanted = new Map<string, Wanted & { branch: Branch }>();
    for (const { way, branch } of ways) {
      const path = way.slice(0, depth + 1);
      if (wanted.has(path)) continue;
      const ref = branch.node.ref(digitOf(way, depth));
      if (ref !== null) wanted.set(path, { path, ref, branch });
    }
    const places = [...wanted.values()];
    const found = await this.#read(orm, places);
    for (const [index, { path, branch }] of places.entries()) {
      branch.below.set(digitOf(path, depth), found[index] ?? LOST);
    }
  }

  /** Returns nodes in the order of `wanted`, or `lost` for a node that is gone or differs from its reference. */
  async #read(orm: Orm, wanted: readonly Wanted[]): Promise<(Branch | typeof LOST)[]> {
    const known = wanted.map(({ path, ref }) => this.#cache.get(path, ref.hash));
    const missing = wanted.filter((_, index) => known[index] === null);
    const stored = missing.length === 0 ? [] : await selectNodes(orm, missing.map(placeOf));
    let next = 0;
    return wanted.map(({ path, ref }, index) => {
      const cached = known[index] ?? null;
      if (cached !== null) return branchOf(cached);
      const node = stored[next++] ?? null;
      if (node === null || !sameHash(node.hash, ref.hash)) return LOST;
      this.#cache.put(path, node);
      return branchOf(node);
    });
  }
}

function placeOf({ path, ref }: Wanted): NodePlace {
  return { path, version: ref.version };
}

function branchOf(node: MapNode): Branch {
  return { node, changed: new Map(), below: new Map() };
}

/** Returns the leaf at a digit; null for an empty slot. The digit must not lead to a child node. */
function leafOf({ node, changed }: Branch, digit: number): LeafSlot | null {
  const slot = changed.get(digit) ?? node.slot(digit);
  if (slot !== null && !isLeaf(slot))
    throw new Error("The path of an owner in the map of heads was not read.");
  return slot;
}

function belowOf({ below }: Branch, digit: number): Branch {
  return foundOf(below.get(digit) ?? LOST);
}

function foundOf(branch: Branch | typeof LOST): Branch {
  if (branch === LOST) throw new Error("A node of the map of heads is gone.");
  return branch;
}

/** Returns the reference to the root of the map of a stored leaf. */
export function rootOf({ number, map }: { number: number; map: string }): NodeRef {
  return { version: Number(number), hash: hashFromHex(map) };
}

function digitOf(way: string, depth: number): number {
  const code = way.charCodeAt(depth);
  return code < LETTER_A ? code - DIGIT_0 : code - LETTER_A + 10;
}
