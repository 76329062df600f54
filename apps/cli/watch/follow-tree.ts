import {
  type Checkpoint,
  checkpointText,
  hexOf,
  isIncluded,
  leafHash,
  type SigningJwk,
  sameHash,
} from "@ostiary/lib/domain/proof";
import {
  consistencyRanges,
  inclusionRanges,
  isConsistent,
  knownSignatures,
  logKey,
  noteText,
  readNoteBytes,
  readTreeHead,
  type TreeHead,
} from "@ostiary/lib/domain/tlog";
import type { LogTree } from "./log-tree.ts";
import { NoResponse } from "./read-log.ts";

/** A signed root of the tree, with the text of the signed note. */
export interface SignedRoot {
  note: string;
  head: TreeHead;
}

/** The result of one check of a log's tree. */
interface TreeLook {
  /** The newest root that extends the kept one. Null if the log has no tree, or if there is a problem. */
  root: SignedRoot | null;
  /** A sentence that says what is wrong with the log. Null for a log that only grew. */
  problem: string | null;
  /** The root that proves the problem, or null if there is no problem. */
  evidence: SignedRoot | null;
}

/** Reads a root from the bytes of a signed note. Returns null for other bytes. */
export function readRoot(bytes: Uint8Array): SignedRoot | null {
  const note = readNoteBytes(bytes);
  const head = note === null ? null : readTreeHead(note.text);
  return note === null || head === null ? null : { note: noteText(note), head };
}

/**
 * Checks that the tree of a log extends the kept tree and contains the newest checkpoint of the list.
 *
 * @throws NoResponse if the log serves no root although it had one, or serves something other than a signed root
 */
export async function followTree(
  tree: LogTree,
  kept: SignedRoot | null,
  newest: Checkpoint | null,
  keys: readonly SigningJwk[],
): Promise<TreeLook> {
  const bytes = await tree.root();
  if (bytes === null && kept === null) return { root: null, problem: null, evidence: null };
  const shown = bytes === null ? null : readRoot(bytes);
  if (shown === null) throw new NoResponse("The log", "does not serve a signed root of its tree");
  const problem =
    (await signatureProblem(shown, keys)) ??
    (kept === null ? null : await growthProblem(tree, kept.head, shown.head)) ??
    (newest === null ? null : await leafProblem(tree, shown.head, newest));
  if (problem !== null) return { root: null, problem, evidence: shown };
  // keep the larger tree: a cache may show an older root for a moment
  const root = kept !== null && kept.head.size > shown.head.size ? kept : shown;
  return { root, problem: null, evidence: null };
}

async function signatureProblem(
  { note, head }: SignedRoot,
  keys: readonly SigningJwk[],
): Promise<string | null> {
  const read = readNoteBytes(new TextEncoder().encode(note));
  const known = keys.map((jwk) => logKey(jwk, head.origin));
  const found = read === null ? [] : await knownSignatures(read, known);
  const isSigned = found.length > 0 && found.every(({ isRight }) => isRight);
  return isSigned ? null : `The root of the tree of ${head.size} checkpoints is not signed by a known key.`;
}

async function growthProblem(tree: LogTree, kept: TreeHead, shown: TreeHead): Promise<string | null> {
  const [earlier, later] = kept.size <= shown.size ? [kept, shown] : [shown, kept];
  if (earlier.size === later.size) {
    return sameHash(earlier.root, later.root)
      ? null
      : `The tree of ${kept.size} checkpoints differs from the kept tree of the same size: the log has been rewritten since that tree was kept.`;
  }
  const path = await tree.path(consistencyRanges(earlier.size, later.size), later.size);
  if (path !== null && isConsistent(earlier, later, path)) return null;
  return kept.size > shown.size
    ? `The tree shrank to ${shown.size} checkpoints; the kept tree has ${kept.size}.`
    : `The tree of ${shown.size} checkpoints does not begin with the kept tree of ${kept.size}: the log has been rewritten since that tree was kept.`;
}

/**
 * Returns a problem if the tree lacks the newest checkpoint of the list, unless the tree is older than that
 * checkpoint.
 */
async function leafProblem(
  tree: LogTree,
  { size, root }: TreeHead,
  newest: Checkpoint,
): Promise<string | null> {
  const index = newest.number - 1;
  if (index >= size) return null;
  const path = await tree.path(inclusionRanges(index, size), size);
  const leaf = leafHash(new TextEncoder().encode(checkpointText(newest)));
  if (path !== null && isIncluded(leaf, { index, size, path: path.map(hexOf) }, root)) return null;
  return `Checkpoint ${newest.number} of the list is not in the tree of ${size} checkpoints.`;
}
