import { hexOf, leafText } from "@ostiary/lib/domain/proof";
import { grown } from "../root/signed-root.ts";
import { leafOf } from "../root/tree-sql.ts";
import type { PassDeps } from "./pass-deps.ts";
import type { LeafWrite } from "./pass-sql.ts";
import type { PassRead } from "./read-pass.ts";
import type { Base } from "./sign-pass.ts";

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
  const { hashes } = grown(tree.frontier, leafText(leafOf(leaf, tree.before)));
  return { ...leaf, hashes: Buffer.concat(hashes).toString("base64"), nodes };
}
