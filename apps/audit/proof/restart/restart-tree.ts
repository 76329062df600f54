import { hashFromHex } from "@ostiary/lib/domain/proof";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { HeadMap, type NodeCache, rootOf } from "../heads/head-map.ts";
import { EMPTY_TREE } from "../root/signed-root.ts";
import { nextEdge, nextLeaf, type PassDeps, writeAndSign } from "../seal/seal-pass.ts";
import { selectState } from "../seal/state-sql.ts";
import type { LeafRow } from "../tree/tree-sql.ts";
import { selectHeads, storeFirstNote } from "./restart-sql.ts";

/**
 * Begins a new tree under the name `deps.origin`, for a database that was set back as a whole, or whose tree cannot be
 * restored (AU-204). Its first leaf has the heads of the newest stored leaf, and its roots name the earlier trees.
 *
 * @throws StartRefused if the log has no tree yet, or if a tree has this name
 */
export async function restartTree(deps: PassDeps): Promise<void> {
  const { origin, memory } = deps;
  const { state, map } = await deps.reads.transaction(
    "read_restarted_tree",
    async (tx) => {
      const state = await selectState(tx);
      return { state, map: state.leaf && (await storedMap(tx, memory.nodes, state.leaf)) };
    },
    { isolation: "repeatable read" },
  );
  if (state.leaf === null || map === null)
    throw new StartRefused("The log has no tree yet: set AUDIT_LOG_ORIGIN.");
  if (state.trees.some((tree) => tree.origin === origin)) {
    throw new StartRefused(`The log already has a tree with the name ${origin}. Choose a new name.`);
  }
  const before = Number(state.leaf.number);
  const tree = { before, edge: EMPTY_TREE, leaf: null, unsigned: null };
  const leaf = nextLeaf(deps, { state, tree, map });
  const begins = { origin, before, started_at: leaf.sealed_at };
  const edge = nextEdge(tree, leaf);
  const isWritten = await writeAndSign(
    deps,
    { state, tree },
    {
      ...{ holder: deps.holder, sealed_to: state.sealed_to, leaf, begins },
      ...{ entries: [], heads: [], altered: [], restored: [] },
    },
    // with the tree, so that an interruption leaves no tree under a root of another name
    (tx) => memory.roots.sign(edge, leaf, [...state.trees, begins], (note) => storeFirstNote(tx, note)),
  );
  if (!isWritten)
    throw new StartRefused("The service sealed events during the restart: stop the service, and try again.");
}

/** Returns the map of the newest stored leaf. If its root is gone, makes the map again from the chains. */
async function storedMap(tx: Orm, nodes: NodeCache, leaf: LeafRow): Promise<HeadMap> {
  const stored = await HeadMap.open(tx, nodes, rootOf(leaf), []);
  if (!stored.isLost) return stored;
  const map = await HeadMap.open(tx, nodes, null, []);
  for (const { owner, position, chain } of await selectHeads(tx)) {
    map.set(owner, { position, chain: hashFromHex(chain) });
  }
  return map;
}
