import { withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { RunImpossible } from "../faults/system/system.ts";
import { Leash } from "../support/clean-up-after-kill.ts";
import { upgradeOf } from "./parameters.ts";
import { runUpgrade } from "./run.ts";

const EXIT_BROKEN = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

// Clients wait for stopping services, so there are more concurrent calls than the runtime allows by default.
withRuntimeVariables(process.env, { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" });
await main();

async function main(): Promise<void> {
  // The leash stops all started processes however this process ends, so exiting at once is safe.
  process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
  try {
    const upgrade = upgradeOf(process.argv.slice(2));
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

function refuse(message: string): never {
  console.error(message);
  process.exit(EXIT_USAGE);
}
