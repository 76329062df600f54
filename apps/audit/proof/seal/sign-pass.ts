import { hexOf, leafText } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { type Frontier, type TrustedTree, withLeaf } from "../root/signed-root.ts";
import { type LeafRow, leafOf } from "../root/tree-sql.ts";
import type { PassDeps } from "./pass-deps.ts";
import { type LeafWrite, lockPasses, type PassWrite, writePass } from "./pass-sql.ts";
import type { PassRead } from "./read-pass.ts";
import { type SealerState, storeNote, storeNoteWithin } from "./state-sql.ts";

/** The state of the sealer, and the tree under the last signed root. */
export interface Base {
  state: SealerState;
  tree: TrustedTree;
}

/** Returns the leaf of the changed map, with the nodes that it writes. Its number follows `after`. */
export function nextLeaf(
  { clock }: Pick<PassDeps, "clock">,
  { state, tree, map, after }: Base & Pick<PassRead, "map"> & { after?: number },
): LeafWrite {
  const number = (after ?? Number(state.leaf?.number ?? 0)) + 1;
  const { root, nodes } = map.sealed(number);
  // the clock of a replica may be behind the clock of the replica that sealed before
  const atMs = Math.max(clock.now(), new Date(state.leaf?.sealed_at ?? 0).getTime());
  const leaf = { number, sealed_at: new Date(atMs).toISOString(), map: hexOf(root) };
  const { hashes } = withLeaf(tree.frontier, leafText(leafOf(leaf, tree.before)));
  return { ...leaf, hashes: Buffer.concat(hashes).toString("base64"), nodes };
}

/** Signs a tree whose last pass was interrupted before its signature, and whose leaf was checked. */
export async function signInterrupted(
  { memory, writes }: PassDeps,
  { state, tree }: Base,
  leaf: LeafRow,
): Promise<void> {
  await memory.roots.sign(nextFrontierOf(tree, leaf), leaf, state.trees, (note) =>
    storeNote(writes, state.passes, note, leaf),
  );
}

/** Writes a pass, and signs the root once the pass is committed. Returns whether the pass was written. */
export async function writeAndSign(deps: PassDeps, base: Base, write: PassWrite): Promise<boolean> {
  const { state } = base;
  const { leaf } = write;
  if (!(await deps.writes.run("write_pass", (orm) => writePass(orm, state.passes, write)))) return false;
  if (leaf === null) return true;
  await signLeaf(deps, base, { ...write, leaf }, (note) =>
    storeNote(deps.writes, state.passes + 1, note, leaf),
  );
  return true;
}

/**
 * Writes a pass with its signed root in one transaction, for a pass that no replica may sign after an interruption: the
 * owner of the tables could have written it. Returns whether the pass was written.
 *
 * @param before changes entries or declarations of earlier passes, in the same transaction
 */
export function writeSigned(
  deps: PassDeps,
  base: Base,
  write: PassWrite & { leaf: LeafWrite },
  before?: (tx: Orm) => Promise<void>,
): Promise<boolean> {
  const { passes } = base.state;
  return deps.writes.transaction("write_pass", async (tx) => {
    if (before !== undefined) {
      if (!(await lockPasses(tx, passes))) return false;
      await before(tx);
    }
    if (!(await writePass(tx, passes, write))) return false;
    await signLeaf(deps, base, write, (note) => storeNoteWithin(tx, note));
    return true;
  });
}

function signLeaf(
  { memory: { roots } }: PassDeps,
  { state, tree }: Base,
  { leaf, begins = null }: PassWrite & { leaf: LeafWrite },
  store: (note: string) => Promise<boolean>,
): Promise<void> {
  const trees = begins === null ? state.trees : [...state.trees, begins];
  return roots.sign(nextFrontierOf(tree, leaf), leaf, trees, store);
}

function nextFrontierOf(
  { frontier, before }: Pick<TrustedTree, "frontier" | "before">,
  leaf: LeafRow,
): Frontier {
  return withLeaf(frontier, leafText(leafOf(leaf, before))).frontier;
}
