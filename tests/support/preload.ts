import { afterAll, setDefaultTimeout } from "bun:test";
import { plugin } from "bun";
import { useServices } from "./services.ts";

const TEST_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 60_000;

// A default timeout holds for one file, and bunfig.toml has none: so it is set as each file is loaded.
plugin({
  name: "test timeout",
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      setDefaultTimeout(TEST_TIMEOUT_MS);
      return { contents: await Bun.file(path).text(), loader: "ts" };
    });
  },
});
// testcontainers reads its settings there; its reaper can hang under Bun, and we clean up ourselves
process.env.TESTCONTAINERS_RYUK_DISABLED = "true";
const run = useServices(process.env);
process.stderr.write(`${run.describe()}\n`);
afterAll(() => run.close(), CLOSE_TIMEOUT_MS);
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, () => void run.close().finally(() => process.exit(code)));
}
