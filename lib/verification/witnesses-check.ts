import type { NoteKey } from "../domain/tlog/index.ts";
import { cosignedCount, type WitnessCosignature, witnessCosignatures } from "./cosigned-root.ts";
import type { Lack } from "./finding-codes.ts";
import type { Problems } from "./problems.ts";
import type { TreeFindings } from "./tree-check.ts";

/** The witnesses that a user trusts, and how many of them must have cosigned a log. */
export interface WitnessRule {
  keys: readonly NoteKey[];
  quorum: number;
  nowMs: number;
  /** The name that the log must have. Without `origin`, any name is accepted. */
  origin?: string | null;
}

/** The findings about the witnesses of an export. */
export interface Witnessed {
  /** The number of checkpoints in the cosigned tree; null if there is no cosigned tree. */
  size: number | null;
  quorum: number;
  /** Every witness that the user trusts, in the order of the keys. */
  witnesses: readonly WitnessCosignature[];
  /**
   * The reason why too few witnesses vouch for the export; null if a quorum cosigned a tree with the export's
   * checkpoint.
   */
  lack: Lack | null;
}

/**
 * Checks which witnesses cosigned a tree that contains the checkpoint of an export (AU-197). `checkTree` has
 * already checked that the export's tree extends the cosigned tree.
 */
export async function checkWitnesses(
  { keys, quorum, nowMs, origin = null }: WitnessRule,
  tree: TreeFindings | null,
  { problems, checkpoint }: { problems: Problems; checkpoint: number | null },
): Promise<Witnessed> {
  const root = tree?.cosigned ?? null;
  const other = origin === null || tree === null ? null : otherLog(tree, origin);
  if (root === null || checkpoint === null) {
    const witnesses = keys.map(({ name }) => ({ name, cosigned_at: null }));
    return { size: null, quorum, witnesses, lack: other ?? { code: "not_cosigned" } };
  }
  const { size } = root;
  const { cosignatures: witnesses, wrong } = await witnessCosignatures(root.note, keys, nowMs);
  for (const name of wrong) {
    problems.add({ code: "cosignature_wrong", witness: name });
  }
  const [count, total] = [cosignedCount(witnesses), keys.length];
  const few: Lack | null = count < quorum ? { code: "cosigned_by_few", count, total, quorum } : null;
  const older: Lack | null = checkpoint > size ? { code: "cosigned_root_older", size, checkpoint } : null;
  return { size, quorum, witnesses, lack: other ?? older ?? few };
}

/** Returns the finding for a log whose name is not `expected`, or null for the expected name. */
function otherLog({ shown }: TreeFindings, expected: string): Lack | null {
  const { origin } = shown;
  return origin === expected ? null : { code: "witnesses_of_other_log", origin, expected };
}
