import { withRuntimeVariables } from "@ostiary/lib/runtime/service";
import { RunImpossible } from "./system/system.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

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
