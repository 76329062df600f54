import { withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { RunImpossible } from "../faults/system/system.ts";
import { Leash } from "../support/clean-up-after-kill.ts";
import { type Parameters, parametersOf } from "./parameters.ts";
import { tooManyUndecided, verdictTable, wrongHistories } from "./report.ts";
import { runHistories, unnoticedFaultyClients, withField } from "./run.ts";

const EXIT_WRONG = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

// Clients wait for frozen services, so there are more concurrent calls than the runtime allows by default.
withRuntimeVariables(process.env, { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" });
await main();

async function main(): Promise<void> {
  // The leash stops all started processes however this process ends, so exiting at once is safe.
  process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
  try {
    const wrong = await wrongIn(parametersOf(process.argv.slice(2)));
    for (const each of wrong) console.error(each);
    process.exit(wrong.length > 0 ? EXIT_WRONG : 0);
  } catch (error) {
    if (error instanceof RunImpossible) refuse(error.message);
    throw error;
  }
}

/** Records and checks histories, prints the verdicts, and returns a text for each problem. */
function wrongIn({ minutes, seed, recorders, beside, json }: Parameters): Promise<string[]> {
  progress(`seed ${seed}${beside === null ? "" : `, with ${beside} beside this source`}`);
  return withField(new Leash(), progress, { seed, beside }, async (field) => {
    progress("checking that each model notices a faulty client");
    const unnoticed = await unnoticedFaultyClients(field, recorders);
    const untilMs = performance.now() + minutes * 60_000;
    const goesOn = () => performance.now() < untilMs;
    const verdicts = await runHistories(field, { recorders, seed, goesOn }, progress);
    console.log(json ? JSON.stringify({ seed, beside, verdicts }, null, 2) : verdictTable(verdicts));
    return [
      ...unnoticed.map((name) => `${name}: the model did not notice the faulty client`),
      ...wrongHistories(verdicts),
      ...tooManyUndecided(verdicts),
    ];
  });
}

function progress(line: string): void {
  console.error(line);
}

function refuse(message: string): never {
  console.error(message);
  process.exit(EXIT_USAGE);
}
