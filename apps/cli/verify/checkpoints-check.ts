import type { ProofEnd } from "@ostiary/lib/contracts/audit";
import {
  type Checkpoint,
  checkpointFault,
  checkpointHash,
  checkpointText,
  hashFromHex,
  headLeaf,
  hexOf,
  isIncluded,
  type SigningJwk,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import type { Faults } from "./faults.ts";

/** What somebody kept of the same log earlier: checkpoints, and the end of an export. */
export interface KeptCopies {
  checkpoints: readonly Checkpoint[];
  end: ProofEnd | null;
}

/** Whether the head of an export is in its checkpoint, and that in one history with all others that are known. */
export class CheckpointsCheck {
  readonly #faults: Faults;
  readonly #keys: readonly SigningJwk[] | null;

  /** `keys` are those that the reader trusts; null leaves those that the file brings. */
  constructor(faults: Faults, keys: readonly SigningJwk[] | null) {
    this.#faults = faults;
    this.#keys = keys;
  }

  async check(end: ProofEnd, kept: KeptCopies): Promise<void> {
    this.#checkHead(end);
    const ofFile = checkpointsOf(end);
    const ofEarlier = kept.end === null ? [] : checkpointsOf(kept.end);
    const all = [...ofFile, ...kept.checkpoints, ...ofEarlier];
    await this.#checkSignatures(all, this.#keys ?? end.keys);
    const history = this.#historyOf(all);
    this.#checkKept(ofFile, kept.checkpoints, history);
  }

  #checkHead({ head, checkpoint, inclusion }: ProofEnd): void {
    if (head.position === 0 && checkpoint === null) return;
    const chain = hashFromHex(head.chain);
    const held =
      checkpoint !== null &&
      inclusion !== null &&
      isIncluded(headLeaf({ ...head, chain }), inclusion, hashFromHex(checkpoint.heads));
    if (held) return;
    const which =
      checkpoint === null ? "No checkpoint holds" : `Checkpoint ${checkpoint.number} does not hold`;
    const message = `${which} this chain: it was cut and rebuilt, or is of another log.`;
    this.#faults.add("rebuilt", message, { position: head.position });
  }

  async #checkSignatures(checkpoints: readonly Checkpoint[], keys: readonly SigningJwk[]): Promise<void> {
    const texts = new Set<string>();
    const signedFrom = Math.min(...checkpoints.filter(({ jws }) => jws !== null).map(({ number }) => number));
    for (const checkpoint of checkpoints) {
      const text = checkpointText(checkpoint);
      if (texts.has(text)) continue;
      texts.add(text);
      const fault = await checkpointFault(checkpoint, keys);
      if (fault === null) continue;
      if (fault === "unsigned" && this.#keys === null && checkpoint.number < signedFrom) continue;
      this.#faults.add("checkpoint", `Checkpoint ${checkpoint.number} ${FAULT_TEXTS[fault]}.`);
    }
  }

  /** One text for each number, each naming the one before. */
  #historyOf(checkpoints: readonly Checkpoint[]): Map<number, Checkpoint> {
    const history = new Map<number, Checkpoint>();
    for (const checkpoint of checkpoints) {
      const other = history.get(checkpoint.number);
      if (other === undefined) history.set(checkpoint.number, checkpoint);
      else if (checkpointText(other) !== checkpointText(checkpoint)) {
        this.#faults.add(
          "checkpoint",
          `There are two checkpoints ${checkpoint.number}: they are of two logs, or of one that was restored from an older backup and went on differently.`,
        );
      }
    }
    for (const checkpoint of history.values())
      this.#checkPrevious(checkpoint, history.get(checkpoint.number - 1));
    return history;
  }

  #checkPrevious({ number, previous }: Checkpoint, before: Checkpoint | undefined): void {
    if (number === 1 && previous !== hexOf(ZERO_HASH)) {
      this.#faults.add("checkpoint", "Checkpoint 1 names one before it.");
    }
    if (before === undefined || checkpointHash(before) === previous) return;
    this.#faults.add(
      "checkpoint",
      `Checkpoint ${number} does not follow the checkpoint ${before.number} that is here.`,
    );
  }

  /** Copies must be connected with the file's checkpoints, without a gap. */
  #checkKept(
    ofFile: readonly Checkpoint[],
    kept: readonly Checkpoint[],
    history: ReadonlyMap<number, Checkpoint>,
  ): void {
    const newest = Math.max(0, ...ofFile.map(({ number }) => number));
    for (const number of new Set(kept.map((checkpoint) => checkpoint.number))) {
      if (number > newest) {
        this.#faults.add(
          "checkpoint",
          `Checkpoint ${number} is newer than this file, which knows ${newest === 0 ? "none" : `no more than ${newest}`}: the log was restored from an older backup, or the file was made before it.`,
        );
        continue;
      }
      const missing = firstMissing(history, number, newest);
      if (missing === null) continue;
      this.#faults.add(
        "checkpoint",
        `Nothing here leads from checkpoint ${number} to ${newest}: checkpoint ${missing} is missing. Give the list of both and all between them as --checkpoint.`,
      );
    }
  }
}

const FAULT_TEXTS = {
  unsigned: "is not signed",
  unknown_key: "is signed by a key that is not among those given",
  wrong_signature: "has a signature that is not its key's",
  other_content: "says something else than what was signed",
} as const;

function checkpointsOf({ checkpoint, recent_checkpoints }: ProofEnd): Checkpoint[] {
  return [...(checkpoint === null ? [] : [checkpoint]), ...recent_checkpoints];
}

function firstMissing(history: ReadonlyMap<number, Checkpoint>, from: number, to: number): number | null {
  for (let number = from; number <= to; number++) if (!history.has(number)) return number;
  return null;
}
