import {
  type Checkpoint,
  checkpointHash,
  hexOf,
  signedCheckpoint,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import type { TreeWrite } from "../checkpoint-tree/tree.ts";
import type { HeadMap } from "../head-map/head-map.ts";
import type { SigningKey } from "../signing-key/key-file.ts";
import type { PassWrite } from "./pass-sql.ts";
import type { SealedState } from "./sealed-state.ts";
import type { SealerState } from "./sealer-state-sql.ts";

interface CheckpointDeps {
  key: SigningKey | null;
  /** The name of the log in signed roots of its tree. Null for a pass that adds no leaf to the tree. */
  origin: string | null;
  sealed: SealedState;
}

/**
 * Signs and returns the next checkpoint, the new nodes of its map of heads, and the new leaves of the tree of checkpoints.
 */
export async function nextCheckpoint(
  deps: CheckpointDeps,
  state: SealerState,
  map: HeadMap,
  sealed_at: string,
): Promise<Pick<PassWrite, "nodes" | "checkpoint" | "tree">> {
  const newest = state.checkpoint;
  const number = (newest?.number ?? 0) + 1;
  const { root, nodes } = map.sealed(number);
  const previous = newest === null ? hexOf(ZERO_HASH) : checkpointHash(newest);
  const checkpoint = await signedCheckpoint({ number, sealed_at, previous, map: hexOf(root) }, deps.key);
  return { nodes, checkpoint, tree: await grownTree(deps, state, checkpoint) };
}

/**
 * Returns the leaves that a pass adds to the tree of checkpoints. `next` is the checkpoint that the pass makes, or
 * null if no head moves.
 */
export async function grownTree(
  { key, origin, sealed }: CheckpointDeps,
  state: SealerState,
  next: Checkpoint | null,
): Promise<TreeWrite> {
  return origin === null ? { leaves: [], note: undefined } : sealed.growTree(state, next, { key, origin });
}
