/**
 * All tests, or those of the files and folders named, in several processes at once; ends as they end. `bun test`
 * runs them in one process, which is as thorough and takes longer.
 */
import { availableParallelism } from "node:os";
import { locateServices } from "./locate.ts";

/** Tests wait much: for servers to start, to die and to be noticed. */
const WORKERS_PER_CORE = 1.5;
const WORKERS_MAX = 6;

const { etcd } = locateServices(process.env);
// an etcd that is given, and none that could be started, is emptied before each test: by one process at a time
const shared = etcd.kind === "url" && etcd.binary === undefined;
const workers = shared ? 1 : Math.min(Math.ceil(availableParallelism() * WORKERS_PER_CORE), WORKERS_MAX);

const tests = Bun.spawn(
  [
    process.execPath,
    ...["test", "--randomize", "--timeout", "60000", "--retry", "1"],
    ...[`--parallel=${workers}`, "--no-isolate"],
    ...process.argv.slice(2),
  ],
  { cwd: `${import.meta.dir}/../..`, stdio: ["ignore", "inherit", "inherit"] },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
process.exitCode = await tests.exited;
