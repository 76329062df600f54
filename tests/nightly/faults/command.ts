import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { RunImpossible } from "../../support/run-impossible.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;
const MINUTES = "5";
const SEED_MAX = 2 ** 31;

/**
 * Runs `work` and exits: with 0, with 1 if `work` returns lines about problems, and with 2 if it throws
 * {@link RunImpossible}.
 */
export async function runCommand(work: () => Promise<readonly string[]>): Promise<never> {
  // Clients wait for hanging services, so there are more concurrent calls than the runtime allows by default.
  withRuntimeVariables(process.env, { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" });
  // The leash stops all started processes however this process ends, so exiting at once is safe.
  process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
  try {
    const problems = await work();
    for (const line of problems) progress(line);
    process.exit(problems.length > 0 ? EXIT_FAILED : 0);
  } catch (error) {
    if (!(error instanceof RunImpossible)) throw error;
    progress(error.message);
    process.exit(EXIT_USAGE);
  }
}

export function progress(line: string): void {
  console.error(line);
}

/**
 * Parses the command line.
 *
 * @throws RunImpossible if an option is invalid
 */
export function argumentsOf<const Options extends ParseArgsOptionsConfig>(
  options: Options,
  allowPositionals = false,
) {
  try {
    return parseArgs({ options, allowPositionals });
  } catch (error) {
    throw new RunImpossible(error instanceof Error ? error.message : String(error));
  }
}

/** Parses the options of a run whose calls and faults depend on a seed. By default, the seed is a new one. */
export function seededRun(): { minutes: number; seed: number } {
  const { values } = argumentsOf({
    minutes: { type: "string", default: MINUTES },
    seed: { type: "string", default: String(1 + Math.floor(Math.random() * SEED_MAX)) },
  });
  const [minutes, seed] = [Number(values.minutes), Math.floor(Number(values.seed))];
  if (!(minutes > 0 && seed > 0)) throw new RunImpossible("--minutes and --seed take a number above 0.");
  progress(`seed ${seed}`);
  return { minutes, seed };
}
