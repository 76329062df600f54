import { afterAll, setDefaultTimeout } from "bun:test";
import { plugin } from "bun";
import fc from "fast-check";
import { runs } from "./runs.ts";
import { useEmbeddedTemplate } from "./stores/embedded-template.ts";
import { useServices } from "./stores/services.ts";

/** The time after which a test counts as hanging, by the tier of its file. A file may set another time. */
const TIMEOUT_MS = { unit: 60_000, full: 120_000, nightly: 240_000 };
const CLOSE_TIMEOUT_MS = 60_000;

/** The number of this worker process under `--parallel`. Each worker starts its own servers. */
const worker = process.env.BUN_TEST_WORKER_ID;
const run = useServices(process.env);

useEmbeddedTemplate({ folders: false });

// Properties that name no number of inputs try a hundred, as fast-check does, times TEST_RUNS.
if (process.env.TEST_RUNS !== undefined) fc.configureGlobal({ numRuns: runs(100) });

plugin({
  name: "test files",
  setup(build) {
    // Bun loads each test file after the tests of the previous file have ended.
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      await run.endFile();
      // The default timeout applies to one file, and bunfig.toml cannot set it, so each load sets it.
      const tier = (["nightly", "full"] as const).find((each) => path.includes(`/tests/${each}/`)) ?? "unit";
      setDefaultTimeout(TIMEOUT_MS[tier]);
      return { contents: await Bun.file(path).text(), loader: "ts" };
    });
  },
});
// Disables the reaper of testcontainers, which can hang under Bun. The leash removes the containers instead.
process.env.TESTCONTAINERS_RYUK_DISABLED = "true";
if (worker === undefined || worker === "1") process.stderr.write(`${run.describe()}\n`);
// A worker of `--parallel` runs this hook after each of its files. Other processes run the hook only at their
// end. The leash ends the servers that a worker leaves running.
afterAll(() => (worker === undefined ? run.close() : run.endFile()), CLOSE_TIMEOUT_MS);
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, () => void run.close().finally(() => process.exit(code)));
}
