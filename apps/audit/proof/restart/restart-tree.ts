import { hashFromHex, hexOf, leafText } from "@ostiary/lib/domain/proof";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { HeadMap, NodeCache, type NodeWrite } from "../heads/head-map.ts";
import { selectNodes } from "../heads/nodes-sql.ts";
import { EMPTY_TREE, grown } from "../root/signed-root.ts";
import { type PassDeps, writeAndSign } from "../seal/seal-pass.ts";
import { type SealerState, selectState } from "../seal/state-sql.ts";
import { leafOf } from "../tree/tree-sql.ts";
import { selectHeads, storeFirstNote } from "./restart-sql.ts";

/**
 * Begins a new tree under the name `deps.origin`, for a database that was set back as a whole, or whose tree cannot be
 * restored (AU-204). Its first leaf has the heads of the newest stored leaf, and its roots name the earlier trees.
 *
 * @throws StartRefused if the log has no tree yet, or if a tree has this name
 */
export async function restartTree(deps: PassDeps): Promise<void> {
  const { origin, clock } = deps;
  const read = await deps.reads.transaction(
    "read_restarted_tree",
    async (tx) => {
      const state = await selectState(tx);
      return { state, map: await storedMap(tx, state) };
    },
    { isolation: "repeatable read" },
  );
  const { state, map } = read;
  if (state.leaf === null || map === null)
    throw new StartRefused("The log has no tree yet: set AUDIT_LOG_ORIGIN.");
  if (state.trees.some((tree) => tree.origin === origin)) {
    throw new StartRefused(`The log already has a tree with the name ${origin}. Choose a new name.`);
  }
  const before = Number(state.leaf.number);
  const atMs = Math.max(clock.now(), new Date(state.leaf.sealed_at).getTime());
  const sealed_at = new Date(atMs).toISOString();
  const row = { number: before + 1, sealed_at, map: map.root };
  const { hashes, edge } = grown(EMPTY_TREE, leafText(leafOf(row, before)));
  const tree = { before, edge: EMPTY_TREE, leaf: null, unsigned: null };
  const begins = { origin, before, started_at: sealed_at };
  const isWritten = await writeAndSign(
    deps,
    { state, tree },
    {
      holder: deps.holder,
      sealed_to: state.sealed_to,
      leaf: { ...row, hashes: Buffer.concat(hashes).toString("base64"), nodes: map.nodes },
      begins,
      ...{ entries: [], heads: [], altered: [], restored: [] },
    },
    // with the tree, so that an interruption leaves no tree under a root of another name
    async (tx) => storeFirstNote(tx, await deps.memory.roots.sign(edge, row, [...state.trees, begins])),
  );
  if (!isWritten)
    throw new StartRefused("The service sealed events during the restart: stop the service, and try again.");
}

/** Returns the map of the newest stored leaf, as the nodes that a new leaf needs; null before the first leaf. */
async function storedMap(
  tx: Orm,
  { leaf }: SealerState,
): Promise<{ root: string; nodes: NodeWrite[] } | null> {
  if (leaf === null) return null;
  const version = Number(leaf.number);
  const [root] = await selectNodes(tx, [{ version, path: "" }]);
  if (root != null && hexOf(root.hash) === leaf.map) {
    return { root: leaf.map, nodes: [{ path: "", node: root.bytes.toString("base64") }] };
  }
  // the root is gone: makes the map again from the chains
  const map = await HeadMap.open(tx, new NodeCache(), null, []);
  for (const { owner, position, chain } of await selectHeads(tx))
    map.set(owner, { position, chain: hashFromHex(chain) });
  const sealed = map.sealed(version + 1);
  return { root: hexOf(sealed.root), nodes: sealed.nodes };
}
