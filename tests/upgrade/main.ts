import { parseArgs } from "node:util";
import { withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { RunImpossible } from "../faults/system/system.ts";
import { Leash } from "../support/leash.ts";
import { releaseOf } from "./checkout.ts";
import { shortRun, wholeRun } from "./orders.ts";
import { RELEASES, WORKING_TREE } from "./releases.ts";
import { runUpgrade, type Upgrade } from "./run.ts";

const EXIT_BROKEN = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;
const PACE = { before_ms: 1_000, fault_ms: 0, well_ms: 1_500, heal_ms_max: 15_000 };
/** In the short run clients of one step are also those before the next. */
const SHORT_PACE = { ...PACE, before_ms: 500, well_ms: 500 };
/** Releases in the short run. */
const SHORT_RELEASES = 2;

// Clients wait for services that stop: more of them than the runtime allows by default.
withRuntimeVariables(process.env, { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" });
await main();

async function main(): Promise<void> {
  // However this process ends, the leash ends what it started.
  process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
  try {
    const upgrade = upgradeOf(readArguments());
    const broken = await runUpgrade(new Leash(), upgrade, (line) => console.error(line));
    for (const each of broken) console.error(each);
    const way = [upgrade.from, ...upgrade.legs.map(({ to }) => to)].join(", ");
    console.log(broken.length === 0 ? `${way}: every promise held.` : "Broken promises.");
    process.exit(broken.length === 0 ? 0 : EXIT_BROKEN);
  } catch (error) {
    if (error instanceof RunImpossible) refuse(error.message);
    throw error;
  }
}

interface Arguments {
  readonly positionals: readonly string[];
  readonly short: boolean;
}

/** Returns the run that the command line asks for; by default the last release and the working tree. */
function upgradeOf({ positionals, short }: Arguments): Upgrade {
  if (short) {
    if (positionals.length > 0) refuse("upgrade --short takes no versions.");
    const versions = [...RELEASES.slice(-SHORT_RELEASES).map(({ version }) => version), WORKING_TREE];
    return { from: versions[0] ?? "", legs: shortRun(versions), pace: SHORT_PACE };
  }
  const [from = RELEASES.at(-1)?.version ?? "", to = WORKING_TREE, ...more] = positionals;
  if (more.length > 0) refuse("upgrade takes two versions: bun run upgrade FROM TO");
  if (from === to) refuse(`upgrade takes two different versions, and both are ${from}.`);
  for (const version of [from, to]) releaseOf(version);
  return { from, legs: wholeRun(from, to), pace: PACE };
}

function readArguments(): Arguments {
  try {
    const { positionals, values } = parseArgs({
      args: process.argv.slice(2),
      allowPositionals: true,
      options: { short: { type: "boolean", default: false } },
    });
    return { positionals, short: values.short };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(message: string): never {
  console.error(message);
  process.exit(EXIT_USAGE);
}
