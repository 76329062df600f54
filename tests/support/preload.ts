import { afterAll, setDefaultTimeout } from "bun:test";
import { plugin } from "bun";
import { useEmbeddedTemplate } from "./embedded-template.ts";
import { useServices } from "./services.ts";

const TEST_TIMEOUT_MS = 60_000;
const CLOSE_TIMEOUT_MS = 60_000;

/** The number of this worker under --parallel. Each worker has its own servers. */
const worker = process.env.BUN_TEST_WORKER_ID;
const run = useServices(process.env, worker === undefined);

useEmbeddedTemplate({ folders: false });

plugin({
  name: "test files",
  setup(build) {
    // Files are loaded one after the other, each when the one before has ended.
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      await run.endFile();
      // A default timeout holds for one file, and bunfig.toml has none. So it is set when each file is
      // loaded.
      setDefaultTimeout(TEST_TIMEOUT_MS);
      return { contents: await Bun.file(path).text(), loader: "ts" };
    });
  },
});
// testcontainers reads its settings here. Its reaper can hang under Bun, and the leash cleans up.
process.env.TESTCONTAINERS_RYUK_DISABLED = "true";
if (worker === undefined || worker === "1") process.stderr.write(`${run.describe()}\n`);
// A worker does not know which file is its last, so this would run after every file there. The leash ends its
// servers.
if (worker === undefined) afterAll(() => run.close(), CLOSE_TIMEOUT_MS);
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, () => void run.close().finally(() => process.exit(code)));
}
