import { randomBytes } from "node:crypto";
import { entryHash, retentionEntry } from "@ostiary/lib/domain/proof";
import { planChains } from "../sealing/append-to-chains.ts";
import { selectChains } from "../sealing/chain-sql.ts";
import { writePass } from "../sealing/pass-sql.ts";
import { type PassDeps, SALT_BYTES } from "../sealing/seal-pass.ts";
import { expectedOf, LogAltered } from "../sealing/sealed-state.ts";
import { selectState } from "../sealing/sealer-state-sql.ts";
import { nextCheckpoint } from "../sealing/sign-checkpoint.ts";
import type { Undeclared } from "./undeclared-places.ts";

/** The maximum number of attempts to write declarations while another replica seals. */
const TRIES_MAX = 100;

/**
 * Appends a retention declaration for `month` to each chain. One new checkpoint covers all declarations. Tries
 * again if another replica has sealed entries since the attempt began.
 *
 * @throws LogAltered if somebody has altered one of the chains
 */
export async function declare(
  deps: PassDeps,
  month: string,
  undeclared: readonly Undeclared[],
): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (await declareOnce(deps, month, undeclared)) return;
  }
  throw new Error(
    `The declarations were not written in ${TRIES_MAX} attempts: the service sealed entries during each one. Try again later.`,
  );
}

async function declareOnce(
  deps: PassDeps,
  month: string,
  undeclared: readonly Undeclared[],
): Promise<boolean> {
  const { reads, writes, sealed, clock, holder } = deps;
  const state = await selectState(writes);
  const owners = undeclared.map(({ owner }) => owner);
  const chains = await selectChains(reads, owners);
  const map = await sealed.openMap(state.checkpoint, owners);
  const [altered] = await sealed.alteredOf(chains, map, expectedOf(state.set_aside));
  if (altered !== undefined) {
    // tries again if another replica extended the chain after the checkpoint was read
    if ((await selectState(writes)).passes !== state.passes) return false;
    throw new LogAltered(`The chain of ${altered.owner}: ${altered.reason}`);
  }
  const declared_at = new Date(clock.now()).toISOString();
  const entries = undeclared.map(({ owner, ranges }) => {
    const salt = randomBytes(SALT_BYTES).toString("hex");
    return {
      owner,
      ranges,
      salt,
      hash: entryHash(retentionEntry(owner, { month, declared_at, ranges }, salt)),
    };
  });
  const plan = planChains(entries, chains, map);
  const retentions = plan.entries.map(({ entry: { ranges, salt }, chain_id, position, chain }) => {
    return { chain_id, position, month, declared_at, ranges, chain, salt };
  });
  return writePass(writes, state.passes, {
    // keeps the stored holder, so that the replica that seals goes on
    holder: state.holder ?? holder,
    sealed_to: state.sealed_to,
    entries: [],
    retentions,
    heads: plan.heads,
    ...(await nextCheckpoint(deps, state, map, declared_at)),
  });
}
