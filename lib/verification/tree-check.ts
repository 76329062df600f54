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
import type { KeptCopies } from "./kept-copies.ts";
import type { Problems } from "./problems.ts";

/** The tree of checkpoints that an export lies in. */
export interface ShownTree {
  /** The name of the log. */
  origin: string;
  /** The number of checkpoints. */
  size: number;
}

/** The findings about the tree of an export. */
export interface TreeFindings {
  shown: ShownTree;
  /** The numbers of the checkpoints that the tree has. */
  numbers: ReadonlySet<number>;
}

type ProofTree = NonNullable<ProofEnd["tree"]>;

const encoder = new TextEncoder();

/**
 * Checks that the checkpoints of an export are leaves of the tree whose root the log signed, and that the tree
 * begins with each tree that was kept. Returns null for a file without a readable tree.
 */
export async function checkTree(
  end: ProofEnd,
  kept: KeptCopies,
  { problems, keys }: { problems: Problems; keys: readonly SigningJwk[] },
): Promise<TreeFindings | null> {
  const { tree } = end;
  if (tree === undefined) {
    if (kept.note !== undefined) {
      problems.leaveOpen("This file has no tree of checkpoints, so the root that was kept tells nothing.");
    }
    return null;
  }
  const check = new TreeCheck(problems, keys);
  const head = await check.signedHead(readNote(tree.note), "The root of the tree of checkpoints");
  if (head === null) return null;
  const numbers = check.included(end, tree, head);
  check.begins(tree, head);
  await check.compareKept(kept, tree, head);
  return { shown: { origin: head.origin, size: head.size }, numbers };
}

class TreeCheck {
  readonly #problems: Problems;
  readonly #keys: readonly SigningJwk[];

  constructor(problems: Problems, keys: readonly SigningJwk[]) {
    this.#problems = problems;
    this.#keys = keys;
  }

  /** Returns the tree head of a note that a key of the log signed, or null after naming what is wrong. */
  async signedHead(note: Note | null, what: string): Promise<TreeHead | null> {
    const head = note === null ? null : readTreeHead(note.text);
    if (note === null || head === null) {
      this.#problems.add("unreadable", `${what} is no signed note.`);
      return null;
    }
    const found = await knownSignatures(
      note,
      this.#keys.map((jwk) => logKey(jwk, head.origin)),
    );
    if (found.length > 0 && found.every(({ isRight }) => isRight)) return head;
    const why =
      found.length === 0 ? "is not signed by a key that is among those given" : "has a wrong signature";
    this.#problems.add("checkpoint", `${what} ${why}.`);
    return null;
  }

  /** Returns the numbers of the checkpoints that are leaves of the tree, and names those that are not. */
  included({ checkpoint, heads = [] }: ProofEnd, { path, asked }: ProofTree, head: TreeHead): Set<number> {
    const numbers = new Set<number>();
    const include = (leaf: Checkpoint, proof: readonly string[] | undefined) => {
      if (proof !== undefined && isLeafOf(head, leaf, proof)) numbers.add(leaf.number);
      else {
        this.#problems.add(
          "checkpoint",
          `Checkpoint ${leaf.number} is not in the tree of ${head.size} checkpoints whose root the log signed: it is of another history.`,
        );
      }
    };
    if (checkpoint !== null) include(checkpoint, path);
    for (const earlier of heads) include(earlier.checkpoint, earlier.path);
    if (asked !== undefined) include(asked.checkpoint, asked.path);
    return numbers;
  }

  /** Checks that the tree begins with the tree up to the checkpoint that was asked for. */
  begins({ asked }: ProofTree, head: TreeHead): void {
    if (asked === undefined) return;
    const { number } = asked.checkpoint;
    const earlier = { size: number, root: hashFromHex(asked.root) };
    if (isConsistent(earlier, head, asked.consistency.map(hashFromHex))) return;
    const message = `The tree of ${head.size} checkpoints does not begin with the tree of ${number} that this file has.`;
    this.#problems.add("checkpoint", message);
  }

  async compareKept({ note, end }: KeptCopies, tree: ProofTree, head: TreeHead): Promise<void> {
    if (note !== undefined) {
      const kept = await this.signedHead(note, "The root that was kept");
      if (kept !== null) this.#compare(kept, tree, head, true);
    }
    if (end?.tree === undefined) return;
    const kept = await this.signedHead(readNote(end.tree.note), "The root in the export that was kept");
    if (kept !== null) this.#compare(kept, tree, head, false);
  }

  /** @param isAsked whether the user asks about this root, so that an open question counts */
  #compare(kept: TreeHead, { asked }: ProofTree, head: TreeHead, isAsked: boolean): void {
    const { size } = kept;
    const known = size === head.size ? head.root : null;
    const root = known ?? (size === asked?.checkpoint.number ? hashFromHex(asked.root) : null);
    if (root !== null) {
      if (sameHash(root, kept.root)) return;
      this.#problems.add(
        "checkpoint",
        `There are two trees of ${size} checkpoints: the log was rewritten since one of their roots was kept.`,
      );
    } else if (isAsked && size > head.size) {
      this.#problems.leaveOpen(
        `The root of ${size} checkpoints, which was kept, is newer than this file, whose tree has ${head.size}: either the file was made before it, or the log was restored from an older backup.`,
      );
    } else if (isAsked && size > 0) {
      this.#problems.leaveOpen(
        `Nothing here leads from the root of ${size} checkpoints, which was kept, to the tree of ${head.size}. Make the export with checkpoint=${size}.`,
      );
    }
  }
}

/** Tells whether a checkpoint is the leaf of its number. */
function isLeafOf({ size, root }: TreeHead, checkpoint: Checkpoint, path: readonly string[]): boolean {
  const leaf = leafHash(encoder.encode(checkpointText(checkpoint)));
  return isIncluded(leaf, { index: checkpoint.number - 1, size, path: [...path] }, root);
}
