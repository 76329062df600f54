/**
 * Runs the tests of the first two tiers, or those of the given files and folders, in several processes at once.
 * Exits with the exit code of `bun test`, or with 1 if a tier ran no test. `--record` writes how long each file took.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buildExecutable, canRunExecutable } from "../support/processes/executable.ts";
import { QUICK_STARTS } from "../support/processes/quick-starts.ts";
import { runTests, unprovedIn } from "./run-tests.ts";
import { roundTimings } from "./timings.ts";

/** The number of test processes for each CPU core. It is above 1 because tests often wait for servers. */
const WORKERS_PER_CORE = 2;
const WORKERS_MAX = 6;
/** Replaces the patterns of bunfig.toml, which hide the second tier too, also from a path that is named. */
const NIGHTLY = "tests/nightly/**";
/** How long each file took in the last recorded run, so that the slowest start first. */
const TIMINGS = join(import.meta.dir, "timings.json");
const TIERS = [/^tests\/(unit|app|stores|flow)\//, /^tests\/full\//];

const workers = Math.min(Math.ceil(availableParallelism() * WORKERS_PER_CORE), WORKERS_MAX);
const records = process.argv.includes("--record");
const given = process.argv.slice(2).filter((argument) => argument !== "--record");

// Tests start hundreds of services, which the executable loads in a fraction of the time.
const executable = canRunExecutable ? await buildExecutable() : undefined;
const run = await runTests(
  [
    ...["--timeout", "60000", `--path-ignore-patterns=${NIGHTLY}`],
    ...[`--parallel=${workers}`, "--no-isolate", `--timings=${TIMINGS}`],
    ...(records ? ["--update-timings"] : []),
    ...given,
  ],
  { ...QUICK_STARTS, TEST_EXECUTABLE: process.env.TEST_EXECUTABLE ?? executable },
);
if (records) await roundTimings(TIMINGS);
if (run.skipped.length > 0) say(`${run.skipped.length} tests were skipped, which proves nothing:`);
for (const line of await unprovedIn(run)) say(`  ${line}`);
const isEmpty =
  given.length === 0
    ? TIERS.some((tier) => ![...run.files].some((file) => tier.test(file)))
    : run.passed === 0;
if (isEmpty) say("a tier ran no test");
process.exitCode = run.exitCode === 0 && isEmpty ? 1 : run.exitCode;

function say(line: string): void {
  process.stderr.write(`verify: ${line}\n`);
}
