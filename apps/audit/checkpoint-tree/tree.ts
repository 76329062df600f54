import {
  type Checkpoint,
  checkpointHash,
  checkpointText,
  type Hash,
  hexOf,
  leafHash,
  type SigningJwk,
  sameHash,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import {
  foldedHash,
  hashesOfNextLeaf,
  knownSignatures,
  logKey,
  nextFrontier,
  nodesOf,
  noteText,
  readNote,
  readTreeHead,
  signNote,
  treeHeadText,
} from "@ostiary/lib/domain/tlog";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import type { SigningKey } from "../signing-key/key-file.ts";
import { selectCheckpointsFrom, selectSubtrees } from "./sql.ts";

/** The maximum number of missing leaves that one pass adds. */
const LATE_LEAVES_MAX = 1_000;

const encoder = new TextEncoder();

/** The leaves that a pass adds to the tree of checkpoints. */
export interface TreeWrite {
  leaves: readonly { number: number; hashes: string }[];
  /** The signed root; undefined keeps the stored note. */
  note: string | undefined;
}

/** The stored tree: the number of its leaves, and its signed root. */
interface StoredTree {
  tree_size: number;
  note: string | null;
}

/** The right edge of the tree of checkpoints: its size, and the roots of its largest complete subtrees. */
interface Edge {
  size: number;
  frontier: readonly Hash[];
}

/** Decides which stored checkpoints and roots the tree may build on. */
interface TreeTrust {
  /** Returns the public keys of the log. */
  keys(): Promise<readonly SigningJwk[]>;
  /** Returns whether a key of this log signed a checkpoint, or the checkpoint is older than the first signed one. */
  isSigned(checkpoint: Checkpoint): Promise<boolean>;
  /** Returns the number of the first signed checkpoint, or null if none is signed. */
  firstSigned(): Promise<number | null>;
}

/** The error for a stored tree that differs from the signed one. The sealer adds no leaf to such a tree. */
export class TreeAltered extends Error {
  constructor(what: string) {
    super(what);
    this.name = "TreeAltered";
  }
}

/** Adds checkpoints to their tree, on top of the root that was signed last. */
export class CheckpointTree {
  readonly #database: Database;
  readonly #trust: TreeTrust;
  #last: { note: string; edge: Edge } | null = null;

  constructor(database: Database, trust: TreeTrust) {
    this.#database = database;
    this.#trust = trust;
  }

  /**
   * Returns what one pass adds to the tree, and writes nothing. These are the leaves of stored checkpoints that the
   * tree lacks, up to the limit of a pass. If none is then missing, the leaf of `next` follows.
   *
   * @param newest the newest stored checkpoint, or null before the first
   * @throws TreeAltered if the stored tree differs from its signed root, or if the next checkpoints are incomplete,
   * unsigned or out of order
   */
  async grow(
    stored: StoredTree,
    newest: Checkpoint | null,
    next: Checkpoint | null,
    signer: { key: SigningKey | null; origin: string },
  ): Promise<TreeWrite> {
    let edge = await this.#edgeOf(stored);
    const late = await this.#lateOf(stored.tree_size, newest);
    const isWhole = stored.tree_size + late.length === (newest?.number ?? 0);
    const leaves: { number: number; hashes: string }[] = [];
    for (const checkpoint of next !== null && isWhole ? [...late, next] : late) {
      const leaf = leafHash(encoder.encode(checkpointText(checkpoint)));
      const hashes = hashesOfNextLeaf(edge.size, leaf, edge.frontier);
      edge = { size: edge.size + 1, frontier: nextFrontier(edge.frontier, hashes) };
      leaves.push({ number: checkpoint.number, hashes: Buffer.concat(hashes).toString("base64") });
    }
    if (signer.key === null || leaves.length === 0) return { leaves, note: undefined };
    const note = await signedNote(edge, { key: signer.key, origin: signer.origin });
    this.#last = { note, edge };
    return { leaves, note };
  }

  /** Compares the stored tree with its signed root, and returns the right edge of the tree. */
  async #edgeOf({ tree_size, note }: StoredTree): Promise<Edge> {
    if (note !== null && this.#last?.note === note && this.#last.edge.size === tree_size) {
      return this.#last.edge;
    }
    const found = await selectSubtrees(this.#database, nodesOf({ from: 0, to: tree_size }));
    const frontier = found.filter((hash) => hash !== null);
    if (frontier.length < found.length) throw new TreeAltered("The tree of checkpoints has lost hashes");
    const edge = { size: tree_size, frontier };
    if (note === null) await this.#checkUnsigned(tree_size);
    else await this.#checkNote(note, edge);
    return edge;
  }

  async #checkUnsigned(size: number): Promise<void> {
    if (size === 0) return;
    const first = await this.#trust.firstSigned();
    if (first !== null && first <= size) {
      throw new TreeAltered("The signed root of the tree of checkpoints is gone");
    }
  }

  async #checkNote(text: string, { size, frontier }: Edge): Promise<void> {
    const note = readNote(text);
    const head = note === null ? null : readTreeHead(note.text);
    if (note === null || head === null) {
      throw new TreeAltered("The root of the tree of checkpoints is not a note");
    }
    const keys = (await this.#trust.keys()).map((jwk) => logKey(jwk, head.origin));
    const isSigned = (await knownSignatures(note, keys)).some(({ isRight }) => isRight);
    if (isSigned && head.size === size && sameHash(head.root, foldedHash(frontier))) return;
    throw new TreeAltered(`The tree of checkpoints 1 to ${size} is not what was signed`);
  }

  /**
   * Returns stored checkpoints without a leaf. Checks that each is signed and contains the hash of the previous one.
   */
  async #lateOf(size: number, newest: Checkpoint | null): Promise<Checkpoint[]> {
    if (newest === null || newest.number === size) return [];
    if (newest.number < size) throw new TreeAltered(`Checkpoints ${newest.number + 1} to ${size} are gone`);
    // starts at the last checkpoint with a leaf, because the next checkpoint must contain its hash
    const found = await selectCheckpointsFrom(this.#database, Math.max(1, size), LATE_LEAVES_MAX + 1);
    const late: Checkpoint[] = [];
    let number = Math.max(1, size);
    let previous = size === 0 ? hexOf(ZERO_HASH) : null;
    for (const checkpoint of found) {
      const follows = previous === null || checkpoint.previous === previous;
      if (checkpoint.number !== number || !follows || !(await this.#trust.isSigned(checkpoint))) {
        throw new TreeAltered(`Checkpoint ${number} is not the one that was signed`);
      }
      if (number > size && number <= newest.number) late.push(checkpoint);
      number += 1;
      previous = checkpointHash(checkpoint);
    }
    return late;
  }
}

async function signedNote(
  { size, frontier }: Edge,
  { key, origin }: { key: SigningKey; origin: string },
): Promise<string> {
  const text = treeHeadText({ origin, size, root: foldedHash(frontier), extensions: [] });
  const { publicKey } = logKey(key.jwk, origin);
  const signature = await signNote(text, { name: origin, publicKey, privateKey: key.privateKey });
  return noteText({ text, signatures: [signature] });
}
