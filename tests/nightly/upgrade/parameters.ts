import { parseArgs } from "node:util";
import { RunImpossible } from "../faults/system/system.ts";
import { lastRelease, releaseOf } from "./checkout.ts";
import { wholeRun } from "./orders.ts";
import { WORKING_TREE } from "./releases.ts";
import type { Upgrade } from "./run.ts";

const PACE = { beforeMs: 1_000, faultMs: 0, wellMs: 1_500, healMsMax: 15_000 };

/**
 * Parses the command line of `bun run nightly upgrade`. By default, the run is between the last release and the
 * working tree.
 *
 * @throws RunImpossible if an argument is invalid, or if there is no release yet
 */
export function upgradeOf(args: string[]): Upgrade {
  const [from = lastRelease(), to = WORKING_TREE, ...more] = positionalsOf(args);
  if (more.length > 0)
    throw new RunImpossible("upgrade takes at most two versions: bun run nightly upgrade FROM TO");
  if (from === to) throw new RunImpossible(`upgrade needs two different versions, but both are ${from}.`);
  for (const version of [from, to]) releaseOf(version);
  return { from, legs: wholeRun(from, to), pace: PACE };
}

function positionalsOf(args: string[]): readonly string[] {
  try {
    return parseArgs({ args, allowPositionals: true }).positionals;
  } catch (error) {
    throw new RunImpossible(error instanceof Error ? error.message : String(error));
  }
}
