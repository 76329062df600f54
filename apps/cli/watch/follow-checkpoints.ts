import {
  type Checkpoint,
  checkpointHash,
  checkpointProblem,
  checkpointText,
  type SigningJwk,
} from "@ostiary/lib/domain/proof";

/** The result of one check of a log's list of checkpoints. */
interface Look {
  /** The newest checkpoint of the list, or null if the list is empty. */
  newest: Checkpoint | null;
  /** The number of checkpoints since the kept one. */
  later: number;
  /** A sentence that says what is wrong with the log. Null for a log that only grew. */
  problem: string | null;
  /** The checkpoint that proves the problem. Null if there is no problem, or no checkpoint that proves it. */
  evidence: Checkpoint | null;
}

/**
 * Follows a list of checkpoints back from the newest to the kept one. Each checkpoint must be signed and must
 * name its predecessor. Without a kept checkpoint, the newest one is trusted.
 */
export async function followCheckpoints(
  list: AsyncIterable<Checkpoint>,
  kept: Checkpoint | null,
  keys: readonly SigningJwk[],
): Promise<Look> {
  let newest: Checkpoint | null = null;
  let above: Checkpoint | null = null;
  const went = (problem: string, evidence: Checkpoint | null): Look => ({
    newest,
    later: 0,
    problem,
    evidence,
  });
  for await (const checkpoint of list) {
    newest ??= checkpoint;
    const problem =
      (await signatureProblem(checkpoint, kept, keys)) ??
      linkProblem(checkpoint, above) ??
      backProblem(checkpoint, kept);
    if (problem !== null) return went(problem, checkpoint);
    if (kept === null || checkpoint.number === kept.number) {
      return { newest, later: newest.number - checkpoint.number, problem: null, evidence: null };
    }
    above = checkpoint;
  }
  if (kept === null) return { newest: null, later: 0, problem: null, evidence: null };
  const end =
    above === null ? "The log has no checkpoint" : `The list of checkpoints ends at ${above.number}`;
  return went(`${end}, but the kept checkpoint has the number ${kept.number}.`, above);
}

async function signatureProblem(
  checkpoint: Checkpoint,
  kept: Checkpoint | null,
  keys: readonly SigningJwk[],
): Promise<string | null> {
  const problem = await checkpointProblem(checkpoint, keys);
  const isUnsigned = problem === "unsigned";
  if (problem === null || (isUnsigned && keys.length === 0)) return null;
  // checkpoints that were made before the log had its first key stay unsigned
  if (isUnsigned && kept !== null && kept.jws === null && checkpoint.number <= kept.number) return null;
  return `Checkpoint ${checkpoint.number} ${isUnsigned ? "is not signed" : "is not signed by a known key"}.`;
}

function linkProblem(checkpoint: Checkpoint, above: Checkpoint | null): string | null {
  if (above === null) return null;
  if (checkpoint.number === above.number - 1 && checkpointHash(checkpoint) === above.previous) return null;
  return `Checkpoint ${above.number} does not follow checkpoint ${checkpoint.number} of the list.`;
}

function backProblem(checkpoint: Checkpoint, kept: Checkpoint | null): string | null {
  if (kept === null || checkpoint.number > kept.number) return null;
  if (checkpoint.number < kept.number) {
    return `The log shrank to checkpoint ${checkpoint.number}, but the kept checkpoint has the number ${kept.number}.`;
  }
  return checkpointText(checkpoint) === checkpointText(kept)
    ? null
    : `Checkpoint ${kept.number} differs from the kept checkpoint of the same number: the log has been rewritten since that checkpoint was kept.`;
}
