import type { ProofEnd } from "../contracts/audit/index.ts";
import {
  type Checkpoint,
  checkpointText,
  hashFromHex,
  isIncluded,
  leafHash,
  type SigningJwk,
  sameHash,
} from "../domain/proof/index.ts";
import {
  isConsistent,
  knownSignatures,
  logKey,
  type Note,
  readNote,
  readTreeHead,
  type TreeHead,
} from "../domain/tlog/index.ts";
import type { NamedRoot } from "./finding-codes.ts";
import type { KeptCopies } from "./kept-copies.ts";
import type { Problems } from "./problems.ts";

/** The tree of checkpoints that contains the checkpoint of an export. */
export interface ShownTree {
  /** The name of the log. */
  origin: string;
  /** The number of checkpoints. */
  size: number;
}

/** The findings about the tree of an export. */
export interface TreeFindings {
  shown: ShownTree;
  /** The numbers of the export's checkpoints that are in the tree. */
  numbers: ReadonlySet<number>;
  /**
   * The cosigned note and the size of its tree. Null if the file has no cosigned note, or if the export's tree does
   * not extend the cosigned tree.
   */
  cosigned: { note: Note; size: number } | null;
}

type ProofTree = NonNullable<ProofEnd["tree"]>;

const encoder = new TextEncoder();

/**
 * Checks that the checkpoints of an export are leaves of the tree whose root the log signed. Compares this
 * tree with the kept trees. Returns null if the file has no valid tree.
 */
export async function checkTree(
  end: ProofEnd,
  kept: KeptCopies,
  { problems, keys }: { problems: Problems; keys: readonly SigningJwk[] },
): Promise<TreeFindings | null> {
  const { tree } = end;
  if (tree === undefined) {
    if (kept.note !== undefined) {
      problems.leaveOpen({ code: "no_tree" });
    }
    return null;
  }
  const check = new TreeCheck(problems, keys);
  const head = await check.signedHead(readNote(tree.note), "own");
  if (head === null) return null;
  const numbers = check.included(end, tree, head);
  check.begins(tree, head);
  await check.compareKept(kept, tree, head);
  const cosigned = await check.cosigned(tree, head);
  return { shown: { origin: head.origin, size: head.size }, numbers, cosigned };
}

class TreeCheck {
  readonly #problems: Problems;
  readonly #keys: readonly SigningJwk[];

  constructor(problems: Problems, keys: readonly SigningJwk[]) {
    this.#problems = problems;
    this.#keys = keys;
  }

  /**
   * Returns the tree head of a note that a key of the log signed. Reports a problem and returns null for any
   * other note.
   */
  async signedHead(note: Note | null, root: NamedRoot): Promise<TreeHead | null> {
    const head = note === null ? null : readTreeHead(note.text);
    if (note === null || head === null) {
      this.#problems.add({ code: "root_not_a_note", root });
      return null;
    }
    const found = await knownSignatures(
      note,
      this.#keys.map((jwk) => logKey(jwk, head.origin)),
    );
    if (found.length > 0 && found.every(({ isRight }) => isRight)) return head;
    const code = found.length === 0 ? "root_of_unknown_key" : "root_with_wrong_signature";
    this.#problems.add({ code, root });
    return null;
  }

  /** Returns the numbers of the checkpoints that are leaves of the tree. Reports other checkpoints as problems. */
  included({ checkpoint, heads = [] }: ProofEnd, { path, asked }: ProofTree, head: TreeHead): Set<number> {
    const numbers = new Set<number>();
    const include = (leaf: Checkpoint, proof: readonly string[] | undefined) => {
      if (proof !== undefined && isLeafOf(head, leaf, proof)) numbers.add(leaf.number);
      else this.#problems.add({ code: "not_in_tree", checkpoint: leaf.number, size: head.size });
    };
    if (checkpoint !== null) include(checkpoint, path);
    for (const earlier of heads) include(earlier.checkpoint, earlier.path);
    if (asked !== undefined) include(asked.checkpoint, asked.path);
    return numbers;
  }

  /** Checks that the tree extends the earlier tree whose last leaf is the requested checkpoint. */
  begins({ asked }: ProofTree, head: TreeHead): void {
    if (asked === undefined) return;
    const { number } = asked.checkpoint;
    const earlier = { size: number, root: hashFromHex(asked.root) };
    if (isConsistent(earlier, head, asked.consistency.map(hashFromHex))) return;
    this.#problems.add({ code: "tree_begins_otherwise", size: head.size, asked: number });
  }

  /**
   * Returns the cosigned note, or null if the file has none. If this tree does not extend the cosigned tree,
   * reports a problem and returns null.
   */
  async cosigned({ cosigned }: ProofTree, head: TreeHead): Promise<TreeFindings["cosigned"]> {
    const note = cosigned === undefined ? null : readNote(cosigned.note);
    if (cosigned === undefined) return null;
    const root = await this.signedHead(note, "cosigned");
    if (note === null || root === null) return null;
    if (root.origin !== head.origin) {
      const { origin } = head;
      this.#problems.add({ code: "cosigned_root_of_other_log", cosignedOrigin: root.origin, origin });
      return null;
    }
    if (isConsistent(root, head, cosigned.consistency.map(hashFromHex))) return { note, size: root.size };
    this.#problems.add({ code: "tree_not_as_cosigned", size: head.size, cosigned: root.size });
    return null;
  }

  async compareKept({ note, end }: KeptCopies, tree: ProofTree, head: TreeHead): Promise<void> {
    if (note !== undefined) {
      const kept = await this.signedHead(note, "kept");
      if (kept !== null) this.#compare(kept, tree, head, true);
    }
    if (end?.tree === undefined) return;
    const kept = await this.signedHead(readNote(end.tree.note), "kept_export");
    if (kept !== null) this.#compare(kept, tree, head, false);
  }

  /**
   * Compares the tree with a kept tree.
   *
   * @param isAsked whether the user asked about the kept tree; only then are open questions reported
   */
  #compare(kept: TreeHead, { asked }: ProofTree, head: TreeHead, isAsked: boolean): void {
    const { size } = kept;
    const known = size === head.size ? head.root : null;
    const root = known ?? (size === asked?.checkpoint.number ? hashFromHex(asked.root) : null);
    if (root !== null) {
      if (sameHash(root, kept.root)) return;
      this.#problems.add({ code: "two_trees", size });
    } else if (isAsked && size > head.size) {
      this.#problems.leaveOpen({ code: "kept_root_newer", size, newest: head.size });
    } else if (isAsked && size > 0) {
      this.#problems.leaveOpen({ code: "kept_root_unconnected", size, newest: head.size });
    }
  }
}

/** Returns whether a checkpoint is in the tree, at the index that follows from its number. */
function isLeafOf({ size, root }: TreeHead, checkpoint: Checkpoint, path: readonly string[]): boolean {
  const leaf = leafHash(encoder.encode(checkpointText(checkpoint)));
  return isIncluded(leaf, { index: checkpoint.number - 1, size, path: [...path] }, root);
}
