import { parseArgs } from "node:util";
import { withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { RunImpossible } from "../faults/system/system.ts";
import { Leash } from "../support/leash.ts";
import { releaseOf } from "./checkout.ts";
import { ORDERS } from "./orders.ts";
import { RELEASES, WORKING_TREE } from "./releases.ts";
import { runUpgrade } from "./run.ts";

const EXIT_BROKEN = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;
const PACE = { before_ms: 1_000, fault_ms: 0, well_ms: 1_500, heal_ms_max: 15_000 };

// Clients wait for services that stop: more of them than the runtime allows by default.
withRuntimeVariables(process.env, { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" });
await main();

async function main(): Promise<void> {
  const { from, to } = versionsOf();
  // However this process ends, the leash ends what it started.
  process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
  try {
    for (const version of [from, to]) releaseOf(version);
    const upgrade = { from, to, orders: ORDERS, pace: PACE };
    const broken = await runUpgrade(new Leash(), upgrade, (line) => console.error(line));
    for (const each of broken) console.error(each);
    console.log(
      broken.length === 0 ? `From ${from} to ${to} and back: every promise held.` : "Broken promises.",
    );
    process.exit(broken.length === 0 ? 0 : EXIT_BROKEN);
  } catch (error) {
    if (error instanceof RunImpossible) refuse(error.message);
    throw error;
  }
}

/** Returns the versions of the command line; by default the last release and the working tree. */
function versionsOf(): { from: string; to: string } {
  const { positionals } = readArguments();
  const [from = RELEASES.at(-1)?.version ?? "", to = WORKING_TREE, ...more] = positionals;
  if (more.length > 0) refuse("upgrade takes two versions: bun run upgrade FROM TO");
  if (from === to) refuse(`upgrade takes two different versions, and both are ${from}.`);
  return { from, to };
}

function readArguments() {
  try {
    return parseArgs({ args: process.argv.slice(2), allowPositionals: true, options: {} });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(message: string): never {
  console.error(message);
  process.exit(EXIT_USAGE);
}
