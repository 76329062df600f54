/**
 * Runs all tests, or those of the given files and folders, in several processes at once, and exits with their
 * result. `bun test` runs them in one process, which proves the same and takes longer.
 */
import { availableParallelism } from "node:os";
import { locateServices } from "./locate.ts";
import { QUICK_STARTS } from "./quick-starts.ts";

/** Tests wait often: for servers to start, to die and to be noticed. */
const WORKERS_PER_CORE = 2;
const WORKERS_MAX = 6;

const { etcd } = locateServices(process.env);
// A given etcd, or one that could not be started, is emptied before each test: only one process may use it at
// a time.
const shared = etcd.kind === "url" && etcd.binary === undefined;
const workers = shared ? 1 : Math.min(Math.ceil(availableParallelism() * WORKERS_PER_CORE), WORKERS_MAX);

const tests = Bun.spawn(
  [
    process.execPath,
    ...["test", "--randomize", "--timeout", "60000"],
    ...[`--parallel=${workers}`, "--no-isolate"],
    ...process.argv.slice(2),
  ],
  {
    cwd: `${import.meta.dir}/../..`,
    env: { ...process.env, ...QUICK_STARTS },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
process.exitCode = await tests.exited;
