import type { ProofEnd } from "../contracts/audit/index.ts";
import {
  type Checkpoint,
  canonicalJson,
  checkpointHash,
  checkpointProblem,
  checkpointText,
  hashFromHex,
  headLeaf,
  hexOf,
  isIncluded,
  isInMap,
  type SigningJwk,
  ZERO_HASH,
} from "../domain/proof/index.ts";
import type { UsedHead } from "./heads-check.ts";
import type { KeptCopies } from "./kept-copies.ts";
import type { Problems } from "./problems.ts";

/**
 * Checks that an export's checkpoint contains the log's head, and that all checkpoints are signed and form
 * one history.
 */
export class CheckpointsCheck {
  readonly #problems: Problems;
  readonly #keys: readonly SigningJwk[] | null;

  /** @param keys the keys that the user trusts; null trusts the keys in the file */
  constructor(problems: Problems, keys: readonly SigningJwk[] | null) {
    this.#problems = problems;
    this.#keys = keys;
  }

  /**
   * Checks the checkpoints of an export together with those that the user kept.
   *
   * @param heads the earlier checkpoints whose head for this log is on the chain of the export
   * @param inTree the numbers of the checkpoints in the signed tree of the export
   */
  async check(
    end: ProofEnd,
    kept: KeptCopies,
    { heads, inTree }: { heads: readonly UsedHead[]; inTree: ReadonlySet<number> },
  ): Promise<void> {
    this.#checkHead(end);
    const ofFile = checkpointsOf(end);
    const ofEarlier = kept.end === null ? [] : checkpointsOf(kept.end);
    const all = [...ofFile, ...kept.checkpoints, ...ofEarlier];
    await this.#checkSignatures(all, this.#keys ?? end.keys);
    const history = this.#historyOf(all);
    const shown = new Set([...heads.map(({ checkpoint }) => checkpoint), ...inTree]);
    if (end.checkpoint?.map !== undefined) shown.add(end.checkpoint.number);
    const unshown = kept.checkpoints.filter(({ number }) => !shown.has(number));
    this.#checkKept(ofFile, unshown, history);
  }

  #checkHead(end: ProofEnd): void {
    const { head, checkpoint } = end;
    if (head.position === 0 && checkpoint === null) {
      this.#problems.leaveOpen({ code: "empty_log" });
      return;
    }
    if (isHeld(end)) return;
    const { position } = head;
    this.#problems.add({ code: "head_not_held", checkpoint: checkpoint?.number ?? null }, { position });
  }

  async #checkSignatures(checkpoints: readonly Checkpoint[], keys: readonly SigningJwk[]): Promise<void> {
    const seen = new Set<string>();
    const signedFrom = Math.min(...checkpoints.filter(({ jws }) => jws !== null).map(({ number }) => number));
    for (const checkpoint of checkpoints) {
      // Compares whole checkpoints: a copy may have the same signature but different fields.
      const copy = canonicalJson(checkpoint);
      if (seen.has(copy)) continue;
      seen.add(copy);
      const problem = await checkpointProblem(checkpoint, keys);
      if (problem === null) continue;
      if (problem === "unsigned" && this.#keys === null && checkpoint.number < signedFrom) continue;
      this.#problems.add({ code: "checkpoint_not_signed", checkpoint: checkpoint.number, problem });
    }
  }

  /**
   * Checks that checkpoints with the same number are equal, and that each checkpoint names its predecessor's
   * hash. Returns the checkpoints by number.
   */
  #historyOf(checkpoints: readonly Checkpoint[]): Map<number, Checkpoint> {
    const history = new Map<number, Checkpoint>();
    for (const checkpoint of checkpoints) {
      const other = history.get(checkpoint.number);
      if (other === undefined) history.set(checkpoint.number, checkpoint);
      else if (checkpointText(other) !== checkpointText(checkpoint)) {
        this.#problems.add({ code: "two_checkpoints", checkpoint: checkpoint.number });
      }
    }
    for (const checkpoint of history.values())
      this.#checkPrevious(checkpoint, history.get(checkpoint.number - 1));
    return history;
  }

  #checkPrevious({ number, previous }: Checkpoint, before: Checkpoint | undefined): void {
    if (number === 1 && previous !== hexOf(ZERO_HASH)) {
      this.#problems.add({ code: "first_names_previous" });
    }
    if (before === undefined || checkpointHash(before) === previous) return;
    this.#problems.add({ code: "previous_differs", checkpoint: number, previous: before.number });
  }

  /**
   * Reports an open question for each kept checkpoint that is newer than the file's newest checkpoint, or not
   * connected to it.
   */
  #checkKept(
    ofFile: readonly Checkpoint[],
    kept: readonly Checkpoint[],
    history: ReadonlyMap<number, Checkpoint>,
  ): void {
    const newest = Math.max(0, ...ofFile.map(({ number }) => number));
    for (const number of new Set(kept.map((checkpoint) => checkpoint.number))) {
      if (number > newest) {
        this.#problems.leaveOpen({
          code: "kept_checkpoint_newer",
          checkpoint: number,
          newest: newest === 0 ? null : newest,
        });
        continue;
      }
      const missing = firstMissing(history, number, newest);
      if (missing === null) continue;
      this.#problems.leaveOpen({ code: "kept_checkpoint_unconnected", checkpoint: number, newest, missing });
    }
  }
}

/**
 * Returns whether an export's checkpoint contains the log's head: in its map, or in the tree of heads that older
 * versions of Ostiary wrote.
 */
function isHeld({ head, checkpoint, map, inclusion }: ProofEnd): boolean {
  if (checkpoint === null) return false;
  const read = { ...head, chain: hashFromHex(head.chain) };
  if (checkpoint.map !== undefined) {
    return map !== undefined && isInMap(read, map, hashFromHex(checkpoint.map));
  }
  const { heads } = checkpoint;
  return (
    heads !== undefined && inclusion !== null && isIncluded(headLeaf(read), inclusion, hashFromHex(heads))
  );
}

function checkpointsOf({ checkpoint, heads = [], tree, recent_checkpoints }: ProofEnd): Checkpoint[] {
  const earlier = heads.map((head) => head.checkpoint);
  if (tree?.asked !== undefined) earlier.push(tree.asked.checkpoint);
  return [...(checkpoint === null ? [] : [checkpoint]), ...earlier, ...recent_checkpoints];
}

function firstMissing(history: ReadonlyMap<number, Checkpoint>, from: number, to: number): number | null {
  for (let number = from; number <= to; number++) if (!history.has(number)) return number;
  return null;
}
