import { parseArgs } from "node:util";
import { RunImpossible } from "../faults/system/system.ts";
import { lastRelease, releaseOf } from "./checkout.ts";
import { shortRun, wholeRun } from "./orders.ts";
import { RELEASES, WORKING_TREE } from "./releases.ts";
import type { Upgrade } from "./run.ts";

const PACE = { beforeMs: 1_000, faultMs: 0, wellMs: 1_500, healMsMax: 15_000 };
/**
 * The pace of the short run. Its waits are shorter: the load after one step is also the load before the next.
 */
const SHORT_PACE = { ...PACE, beforeMs: 500, wellMs: 500 };
/** The number of releases in the short run. */
const SHORT_RELEASES = 2;

interface Arguments {
  readonly positionals: readonly string[];
  readonly short: boolean;
}

/**
 * Parses the command line of `bun run nightly upgrade`. By default, the run is between the last release and the
 * working tree.
 *
 * @throws RunImpossible if an argument is invalid, or if there is no release yet
 */
export function upgradeOf(args: string[]): Upgrade {
  const { positionals, short } = readArguments(args);
  if (short) {
    if (positionals.length > 0) throw new RunImpossible("upgrade --short takes no versions.");
    const [from = lastRelease(), ...later] = RELEASES.slice(-SHORT_RELEASES).map(({ version }) => version);
    const versions = [from, ...later, WORKING_TREE];
    return { from, legs: shortRun(versions), pace: SHORT_PACE };
  }
  const [from = lastRelease(), to = WORKING_TREE, ...more] = positionals;
  if (more.length > 0)
    throw new RunImpossible("upgrade takes at most two versions: bun run nightly upgrade FROM TO");
  if (from === to) throw new RunImpossible(`upgrade needs two different versions, but both are ${from}.`);
  for (const version of [from, to]) releaseOf(version);
  return { from, legs: wholeRun(from, to), pace: PACE };
}

function readArguments(args: string[]): Arguments {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { short: { type: "boolean", default: false } },
    });
    return { positionals, short: values.short };
  } catch (error) {
    throw new RunImpossible(error instanceof Error ? error.message : String(error));
  }
}
