/**
 * Runs the tests of the first two tiers, or those of the given files and folders, in several processes at once.
 * Exits with the exit code of `bun test`.
 */
import { availableParallelism } from "node:os";
import { buildExecutable, canRunExecutable } from "../support/processes/executable.ts";
import { QUICK_STARTS } from "../support/processes/quick-starts.ts";
import { ROOT } from "../support/root.ts";
import { locateServices } from "../support/stores/stores-under-test.ts";

/** The number of test processes for each CPU core. It is above 1 because tests often wait for servers. */
const WORKERS_PER_CORE = 2;
const WORKERS_MAX = 6;
/** Replaces the patterns of bunfig.toml, which hide the second tier too, also from a path that is named. */
const NIGHTLY = "tests/nightly/**";

const { etcd } = locateServices(process.env);
// Without a binary of etcd, tests empty the configured etcd before they use it, so only one process may run
// tests.
const shared = etcd.kind === "url" && etcd.binary === undefined;
const workers = shared ? 1 : Math.min(Math.ceil(availableParallelism() * WORKERS_PER_CORE), WORKERS_MAX);

// Tests start hundreds of services, which the executable loads in a fraction of the time.
const executable = canRunExecutable ? await buildExecutable() : undefined;
const tests = Bun.spawn(
  [
    process.execPath,
    ...["test", "--randomize", "--timeout", "60000", `--path-ignore-patterns=${NIGHTLY}`],
    ...[`--parallel=${workers}`, "--no-isolate"],
    ...process.argv.slice(2),
  ],
  {
    cwd: ROOT,
    env: { TEST_EXECUTABLE: executable?.path, ...process.env, ...QUICK_STARTS },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
process.exitCode = await tests.exited;
