import {
  consistencyRanges,
  isConsistent,
  knownSignatures,
  type NoteKey,
  readRoot,
  sameTree,
  type TreeHead,
  treesBefore,
} from "@ostiary/lib/domain/tlog";
import type { KeptRoot } from "@ostiary/lib/verification";
import { type LogTree, NoResponse } from "./log-tree.ts";

/** The result of one check of a log's tree. */
interface Look {
  /** The root to keep, or the one that shows the problem, as a signed note. */
  text: string;
  head: TreeHead;
  /** A sentence that says what is wrong with the log. Null for a log that only grew. */
  problem: string | null;
}

/**
 * Checks that the tree of a log extends the kept tree. Without a kept tree, the newest one is trusted.
 *
 * @throws NoResponse if the log does not serve a signed root
 */
export async function followTree(
  tree: LogTree,
  kept: KeptRoot | null,
  keys: readonly NoteKey[],
): Promise<Look> {
  const text = await tree.root();
  const root = readRoot(text);
  if (text === null || root === null) throw new NoResponse("The log", "does not serve a signed root");
  const { note, head } = root;
  const shown = { text, head };
  const signatures = await knownSignatures(note, keys);
  if (signatures.length === 0 || !signatures.every(({ isRight }) => isRight)) {
    return { ...shown, problem: `The root of size ${head.size} is not signed by a known key.` };
  }
  const problem = kept === null ? null : await growthProblem(tree, kept.head, head);
  if (problem !== null) return { ...shown, problem };
  // keeps the larger tree: a cache may show an older root for a moment
  return { ...(kept !== null && kept.head.size > head.size ? kept : shown), problem: null };
}

async function growthProblem(tree: LogTree, kept: TreeHead, shown: TreeHead): Promise<string | null> {
  if (kept.origin !== shown.origin) {
    const restart = treesBefore(shown).find(({ origin }) => origin === kept.origin);
    const declared =
      restart === undefined
        ? "It names no earlier tree of that name."
        : `An operator declared a restart on ${restart.declared_at}: name a new file as --state.`;
    return `The log is ${shown.origin}, but the kept root is of ${kept.origin}. ${declared}`;
  }
  const [earlier, later] = kept.size <= shown.size ? [kept, shown] : [shown, kept];
  if (earlier.size === later.size) {
    return sameTree(earlier, later)
      ? null
      : `The root of size ${kept.size} differs from the kept one of the same size: the log was rewritten.`;
  }
  const path = await tree.path(consistencyRanges(earlier.size, later.size), later.size);
  if (path !== null && isConsistent(earlier, later, path)) return null;
  return kept.size > shown.size
    ? `The log was set back to size ${shown.size}; the kept root has size ${kept.size}.`
    : `The tree of size ${shown.size} does not begin with the kept one of size ${kept.size}: the log was rewritten.`;
}
