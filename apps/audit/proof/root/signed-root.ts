import { type Hash, leafText, sameHash } from "@ostiary/lib/domain/proof";
import {
  type EarlierTree,
  EMPTY_ROOT,
  foldedHash,
  hashesOfNextLeaf,
  knownSignatures,
  leafHash,
  nextFrontier,
  noteText,
  readRoot,
  restartLine,
  signNote,
  type TreeHead,
  treeHeadText,
} from "@ostiary/lib/domain/tlog";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { TreeAltered } from "../seal/altered-chains.ts";
import type { SealerState, TreeStart } from "../seal/state-sql.ts";
import type { LogKeys } from "./signing-keys.ts";
import { type LeafRow, leafOf, selectFrontier, selectLeaf } from "./tree-sql.ts";

/** The frontier of a tree: its size, and the hashes of its largest complete subtrees. */
export interface Frontier {
  size: number;
  subtrees: readonly Hash[];
}

export const EMPTY_TREE: Frontier = { size: 0, subtrees: [] };

/** The tree that the sealer may extend. */
export interface TrustedTree {
  /** The number of leaves of all earlier trees. */
  before: number;
  frontier: Frontier;
  /** The leaf whose map holds the heads; null for the empty map. */
  leaf: LeafRow | null;
  /** The leaf after `leaf` if it is stored, but no root has it: its pass was interrupted before the signature. */
  unsigned: LeafRow | null;
}

/** The error for a database that lacks the root that this replica signed or read last. */
export class LogSetBack extends Error {
  constructor(from: number, to: number) {
    super(
      `The audit database was set back: a root of ${from} leaves was signed, and the tree of ${to} leaves does not continue it. Restore the database, or run ostiary audit restart --origin NAME.`,
    );
  }
}

/** The error for a stored root that none of this process's keys signed. */
export class UnknownSigner extends TreeAltered {
  constructor() {
    super(
      "No key of AUDIT_SIGNING_KEY_FILE signed the stored root of the log: keep the old key in the file while a new one replaces it",
    );
  }
}

/** Returns the tree with one more leaf, and the hashes that the leaf adds. */
export function withLeaf({ size, subtrees }: Frontier, leaf: string): { frontier: Frontier; hashes: Hash[] } {
  const hashes = hashesOfNextLeaf(size, leafHash(leaf), subtrees);
  return { frontier: { size: size + 1, subtrees: nextFrontier(subtrees, hashes) }, hashes };
}

/** The root before the first signature. */
const NO_ROOT = { size: 0, root: EMPTY_ROOT, extensions: [] };

/** A root, and the leaf that it ends with. */
interface Remembered {
  note: string | null;
  frontier: Frontier;
  /** The stored leaf, as text. */
  leaf: string;
}

/** Signs the roots of the tree, and checks that the stored tree is the one that was signed last. */
export class SignedRoots {
  readonly #keys: LogKeys | null;
  readonly #origin: string;
  #last: Remembered | null = null;

  constructor(keys: LogKeys | null, origin: string) {
    this.#keys = keys;
    this.#origin = origin;
  }

  /** Returns a check of roots that the same keys signed under another name of the log, without a memory. */
  named(origin: string): SignedRoots {
    const keys = this.#keys?.map(({ key, privateKey }) => ({ key: { ...key, name: origin }, privateKey }));
    return new SignedRoots(keys ?? null, origin);
  }

  /**
   * Returns the tree that the sealer may extend.
   *
   * @throws LogSetBack if the tree does not continue the root that this replica signed or read last
   * @throws TreeAltered if the tree is not the one that was signed last
   */
  async check(orm: Orm, state: SealerState): Promise<TrustedTree> {
    const { trees, leaf, note } = state;
    const tree = trees.at(-1);
    if (tree !== undefined && tree.origin !== this.#origin) {
      throw new TreeAltered(
        `The tree of the audit log has the name ${tree.origin}, and AUDIT_LOG_ORIGIN is ${this.#origin}`,
      );
    }
    const before = tree?.before ?? 0;
    const size = leaf === null ? 0 : Number(leaf.number) - before;
    if (this.#keys === null) return this.#unsignedTree(orm, { before, leaf, size });
    const head = note === null ? NO_ROOT : await this.#signedHead(note);
    if (head.extensions.join("\n") !== earlierTreesOf(trees).map(restartLine).join("\n")) {
      throw new TreeAltered("The earlier trees in audit.trees are not those of the signed root");
    }
    if (head.size !== size && head.size !== size - 1) throw this.#gap(note, head.size, size);
    const signedLeaf = head.size === size ? leaf : await selectLeaf(orm, before + head.size);
    const frontier = await this.#frontierOf(orm, before, signedLeaf, head.size);
    if (frontier === null || !sameHash(foldedHash(frontier.subtrees), head.root)) {
      if (this.#last !== null && this.#last.note !== note)
        throw new LogSetBack(this.#last.frontier.size, head.size);
      throw new TreeAltered(`The tree of the leaves 0 to ${head.size - 1} is not what was signed`);
    }
    const unsigned = head.size === size ? null : leaf;
    await this.#checkLast(orm, { before, frontier, unsigned }, note);
    if (signedLeaf !== null && !this.#signed(unsigned)) this.#last = lastOf(note, frontier, signedLeaf);
    return { before, frontier, leaf: signedLeaf, unsigned };
  }

  /** Returns the error for a tree that does not have the leaves of its root, and at most one more. */
  #gap(note: string | null, signed: number, size: number): Error {
    if (this.#last !== null && this.#last.frontier.size > size)
      return new LogSetBack(this.#last.frontier.size, size);
    return new TreeAltered(
      note === null
        ? `The tree has ${size} leaves, and no key has signed them`
        : `The root of ${signed} leaves is signed, and the tree has ${size} leaves`,
    );
  }

  /** Signs the root of a tree that is stored, and calls `store`, which returns whether it stored the note. */
  async sign(
    frontier: Frontier,
    leaf: LeafRow,
    trees: readonly TreeStart[],
    store: (note: string) => Promise<boolean>,
  ): Promise<void> {
    if (this.#keys === null) return;
    const note = await signedNote(frontier, this.#keys, this.#origin, trees);
    const before = this.#last;
    this.#last = lastOf(note, frontier, leaf);
    // no reader has seen a root that was not stored: the tree may grow in another way
    if (!(await store(note))) this.#last = before;
  }

  /** Whether a leaf that no stored root has is the last one under the root that this replica signed last. */
  #signed(unsigned: LeafRow | null): boolean {
    return unsigned !== null && this.#last?.leaf === rowText(unsigned);
  }

  async #signedHead(text: string): Promise<TreeHead> {
    const root = readRoot(text);
    const keys = this.#keys?.map(({ key }) => key) ?? [];
    const signatures = root === null ? [] : await knownSignatures(root.note, keys);
    const isSigned = signatures.some(({ isRight }) => isRight);
    if (root !== null && isSigned && root.head.origin === this.#origin) return root.head;
    throw new UnknownSigner();
  }

  /** Returns the tree of a log without a key, as it is stored. */
  async #unsignedTree(
    orm: Orm,
    { before, leaf, size }: { before: number; leaf: LeafRow | null; size: number },
  ): Promise<TrustedTree> {
    const frontier = await this.#frontierOf(orm, before, leaf, size);
    if (frontier === null) throw new TreeAltered(`The tree of ${size} leaves has lost hashes`);
    if (leaf !== null) this.#last = lastOf(null, frontier, leaf);
    return { before, frontier, leaf, unsigned: null };
  }

  /** Returns the frontier of the tree that ends with a leaf, and binds the leaf to it; null if hashes are missing. */
  async #frontierOf(orm: Orm, before: number, leaf: LeafRow | null, size: number): Promise<Frontier | null> {
    if (size === 0) return EMPTY_TREE;
    if (leaf === null) return null;
    if (this.#last?.frontier.size === size && this.#last.leaf === rowText(leaf)) return this.#last.frontier;
    const subtrees = await selectFrontier(orm, before, size - 1);
    return subtrees && withLeaf({ size: size - 1, subtrees }, leafText(leafOf(leaf, before))).frontier;
  }

  /** Checks that a signed tree continues the root that this replica signed or read last. */
  async #checkLast(
    orm: Orm,
    { before, frontier: { size }, unsigned }: Omit<TrustedTree, "leaf">,
    note: string | null,
  ): Promise<void> {
    const last = this.#last;
    if (last === null || last.note === note || this.#signed(unsigned)) return;
    const subtrees = last.frontier.size > size ? null : await selectFrontier(orm, before, last.frontier.size);
    if (subtrees !== null && sameHash(foldedHash(subtrees), foldedHash(last.frontier.subtrees))) return;
    throw new LogSetBack(last.frontier.size, size);
  }
}

function lastOf(note: string | null, frontier: Frontier, leaf: LeafRow): Remembered {
  return { note, frontier, leaf: rowText(leaf) };
}

const rowText = ({ number, sealed_at, map }: LeafRow) =>
  `${number} ${new Date(sealed_at).toISOString()} ${map}`;

/** Returns the trees that a restart ended. */
function earlierTreesOf(trees: readonly TreeStart[]): EarlierTree[] {
  return trees.flatMap(({ origin, before }, index) => {
    const next = trees[index + 1];
    if (next === undefined) return [];
    return [{ declared_at: new Date(next.started_at).toISOString(), size: next.before - before, origin }];
  });
}

/** Signs the root of a tree with all keys, and returns it as a note. */
async function signedNote(
  { size, subtrees }: Frontier,
  keys: LogKeys,
  origin: string,
  trees: readonly TreeStart[],
): Promise<string> {
  const extensions = earlierTreesOf(trees).map(restartLine);
  const text = treeHeadText({ origin, size, root: foldedHash(subtrees), extensions });
  const signatures = await Promise.all(
    keys.map(({ key, privateKey }) =>
      signNote(text, { name: key.name, publicKey: key.publicKey, privateKey }),
    ),
  );
  return noteText({ text, signatures });
}
