import { type Hash, hashFromHex, hexOf, monthEnd, nextInChain, ZERO_HASH } from "@ostiary/lib/domain/proof";
import { StartRefused } from "@ostiary/lib/runtime/service";
import { type ChainRow, selectChains } from "../seal/chain-sql.ts";
import { type ChainStep, hashOfStep, selectSteps } from "../seal/chain-steps-sql.ts";
import { writeDeclarations } from "../seal/declare.ts";
import { openMap } from "../seal/read-pass.ts";
import { type PassDeps, sealPass } from "../seal/seal-pass.ts";
import { selectState } from "../seal/state-sql.ts";
import { forget } from "./restart-sql.ts";

const TRIES_MAX = 100;

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
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const givenUp = await restartOnce(deps, owner);
    if (givenUp !== null) return givenUp;
  }
  throw new Error("The service sealed entries during each attempt. Try again later.");
}

async function restartOnce(deps: PassDeps, owner: string): Promise<GivenUp | null> {
  const { state, tree, map, chain, steps } = await readChain(deps, owner);
  if (tree.unsigned !== null) {
    await sealPass(deps);
    return null;
  }
  const head = map.headOf(owner);
  if (head === null)
    throw new StartRefused(`The log of ${owner} was never sealed, so there is nothing to restart.`);
  if (head === "lost") {
    throw new StartRefused(
      `The path to ${owner} in the map of heads is gone: restore audit.head_map, or run ostiary audit restart --origin NAME.`,
    );
  }
  const from = firstLost(owner, head, steps);
  const row: ChainRow = { ...chain, position: head.position, chain: hexOf(head.chain), goes_on: false };
  const declared_at = new Date(deps.clock.now()).toISOString();
  const content = { from, declared_at, lost: hexOf(head.chain) };
  const isWritten = await writeDeclarations(
    deps,
    { state, tree, map, chains: [row] },
    [{ owner, kind: "restart", content }],
    (tx) => forget(tx, row, from),
  );
  return isWritten ? { from, to: head.position } : null;
}

function readChain({ reads, memory }: PassDeps, owner: string) {
  return reads.transaction(
    "read_restarted_chain",
    async (tx) => {
      const state = await selectState(tx);
      const tree = await memory.roots.check(tx, state);
      const map = await openMap(tx, memory.nodes, tree, [owner]);
      const [chain] = await selectChains(tx, [owner]);
      if (chain === undefined) throw new Error("The chain was not read.");
      return { state, tree, map, chain, steps: await selectSteps(tx, chain.id, 0) };
    },
    { isolation: "repeatable read" },
  );
}

/** Returns the first position of a chain that its rows do not have as it was sealed. */
function firstLost(
  owner: string,
  head: { position: number; chain: Hash },
  steps: readonly ChainStep[],
): number {
  const dropped = steps.flatMap(({ kind, content }) =>
    kind === "retention" && content ? [content.month] : [],
  );
  const droppedMs = dropped.length === 0 ? 0 : monthEnd(dropped.toSorted().at(-1) ?? "");
  let [position, chain] = [0, ZERO_HASH];
  for (const step of steps) {
    if (position === head.position || step.position !== position + 1) break;
    const isDropped = step.entry_occurred_at !== null && Date.parse(step.entry_occurred_at) < droppedMs;
    const hash = hashOfStep(owner, step);
    const next = hash === null ? (isDropped ? hashFromHex(step.chain) : null) : nextInChain(chain, hash);
    if (next === null || hexOf(next) !== step.chain) break;
    [position, chain] = [step.position, next];
  }
  // rows that agree with each other and not with the sealed head were computed anew
  if (position === head.position && hexOf(chain) !== hexOf(head.chain)) return 1;
  return position + 1;
}
