import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");

// One example for each program. Every other wrong usage is tested in tests/unit/histories and
// tests/unit/upgrade.
test.each([
  ["histories", "--minutes takes a number above 0.\n", ["--minutes", "0"]],
  ["upgrade", "upgrade --short takes no versions.\n", ["--short", "0.2.0"]],
])("bun run %s exits with 2 and a message for wrong usage", async (run, message, parameters) => {
  const child = Bun.spawn([process.execPath, join(ROOT, `tests/${run}/main.ts`), ...parameters], {
    stdout: "ignore",
    stderr: "pipe",
  });
  expect(await child.stderr.text()).toBe(message);
  expect(await child.exited).toBe(2);
});
