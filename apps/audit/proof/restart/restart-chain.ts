import { hexOf, monthEnd, ZERO_HASH } from "@ostiary/lib/domain/proof";
import { StartRefused } from "@ostiary/lib/runtime/service";
import type { MapHead } from "../heads/head-map.ts";
import type { ChainRow } from "../seal/chain-sql.ts";
import { type ChainStep, intactEnd, selectSteps } from "../seal/chain-steps-sql.ts";
import { declare } from "../seal/declare.ts";
import type { PassDeps } from "../seal/seal-pass.ts";
import { forget } from "./restart-sql.ts";

/** The part of a chain that a restart gave up: the entries of a chain from position `from` up to `to`. */
export interface GivenUp {
  from: number;
  to: number;
}

/**
 * Declares that rows of an owner's chain cannot be restored (AU-203). The chain continues from its sealed head. Events that
 * still exist get new positions after the declaration.
 *
 * @throws StartRefused if the log of the owner was never sealed
 */
export async function restartChain(deps: PassDeps, owner: string): Promise<GivenUp> {
  let givenUp = { from: 1, to: 0 };
  await declare(deps, [owner], async ({ map, chains }, tx) => {
    const head = map.headOf(owner);
    if (head === null)
      throw new StartRefused(`The log of ${owner} was never sealed, so there is nothing to restart.`);
    if (head === "lost") {
      throw new StartRefused(
        `The path to ${owner} in the map of heads is gone: restore audit.head_map, or run ostiary audit restart --origin NAME.`,
      );
    }
    const { position } = head;
    const lost = hexOf(head.chain);
    const ends = chains.map((row): ChainRow => ({ ...row, position, chain: lost, goes_on: false }));
    const [end] = ends;
    if (end === undefined) throw new Error("The chain was not read.");
    const from = firstLost(owner, head, await selectSteps(tx, end.id, 0));
    givenUp = { from, to: position };
    const content = { from, declared_at: new Date(deps.clock.now()).toISOString(), lost };
    return {
      declared: [{ owner, kind: "restart", content }],
      chains: ends,
      also: (writing) => forget(writing, end, from),
    };
  });
  return givenUp;
}

/** Returns the first position of a chain that its rows do not have as it was sealed. */
function firstLost(owner: string, head: MapHead, steps: readonly ChainStep[]): number {
  const months = steps.flatMap(({ kind, content }) =>
    kind === "retention" && content ? [content.month] : [],
  );
  const droppedMs = Math.max(0, ...months.map(monthEnd));
  const sealed = steps.filter(({ position }) => position <= head.position);
  const end = intactEnd(
    owner,
    { position: 0, chain: ZERO_HASH },
    sealed,
    ({ entry_occurred_at }) => entry_occurred_at !== null && Date.parse(entry_occurred_at) < droppedMs,
  );
  // rows that agree with each other and not with the sealed head were computed anew
  if (end.position === head.position && hexOf(end.chain) !== hexOf(head.chain)) return 1;
  return end.position + 1;
}
