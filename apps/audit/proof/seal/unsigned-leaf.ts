import { hexOf, MONTH_MARGIN_MS, ZERO_HASH } from "@ostiary/lib/domain/proof";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import type { NodeCache } from "../heads/head-map.ts";
import type { TrustedTree } from "../root/signed-root.ts";
import type { LeafRow } from "../tree/tree-sql.ts";
import { LogAltered } from "./altered.ts";
import { selectMoved } from "./chain-sql.ts";
import { intactEnd, selectSteps } from "./chain-steps-sql.ts";
import { openMap } from "./read-pass.ts";

/** The largest accepted difference between the clock of the interrupted process and that of this one. */
const CLOCKS_MS = 60 * 60 * 1000;

/**
 * Checks a leaf that no root has yet and that this replica did not write, because the pass of another process was
 * interrupted before its signature. Computes the leaf's map again, from the signed map and the committed rows.
 *
 * @throws LogAltered if the leaf has another map, or a time that its pass cannot have had
 */
export async function checkUnsignedLeaf(
  tx: Orm,
  nodes: NodeCache,
  tree: TrustedTree,
  leaf: LeafRow,
  nowMs: number,
): Promise<void> {
  let newestMs = 0;
  const moved = await selectMoved(tx, Number(leaf.number));
  const owners = moved.map(({ owner }) => owner);
  const map = await openMap(tx, nodes, tree, owners);
  for (const row of moved) {
    const head = map.headOf(row.owner);
    if (head === "lost") throw new LogAltered(`The path to ${row.owner} in the map of heads is gone`);
    const start = head ?? { position: 0, chain: ZERO_HASH };
    const steps = await selectSteps(tx, row.id, start.position);
    const end = intactEnd(row.owner, start, steps);
    const isIntact = end.position === row.position && hexOf(end.chain) === row.chain;
    if (!isIntact || end.position !== start.position + steps.length) {
      throw new LogAltered(
        `The chain of ${row.owner} in leaf ${leaf.number} does not have what was committed`,
      );
    }
    map.set(row.owner, end);
    newestMs = steps.reduce((ms, step) => Math.max(ms, timeOf(step.entry_occurred_at)), newestMs);
  }
  if (hexOf(map.sealed(Number(leaf.number)).root) !== leaf.map) {
    throw new LogAltered(`The map of leaf ${leaf.number} does not have what was committed`);
  }
  const beforeMs = timeOf(tree.leaf?.sealed_at);
  const sealedMs = timeOf(leaf.sealed_at);
  // an entry of a later month must not count as one of a month that retention drops
  const isTooEarly = sealedMs < beforeMs || sealedMs < newestMs - MONTH_MARGIN_MS;
  if (isTooEarly || sealedMs > Math.max(nowMs + CLOCKS_MS, beforeMs)) {
    throw new LogAltered(`The time of leaf ${leaf.number} is not one at which its pass was written`);
  }
}

function timeOf(time: string | null | undefined): number {
  return time == null ? 0 : new Date(time).getTime();
}
