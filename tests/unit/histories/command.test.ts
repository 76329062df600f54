import { expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../../faults/system/system.ts";

test.each([
  [["--beside", "tree"], '--beside takes a release: 0.1.0, 0.2.0, last. "tree" is none.'],
  [["--beside", ""], "--beside takes a release: "],
  [["--beside", "0.0.1"], "--beside takes a release: "],
  [["--minutes", "0"], "--minutes takes a number above 0."],
  [["--only", "revision"], 'There is no model "revision".'],
  [["--seed", "x"], "--seed takes a number above 0."],
  [["0.2.0"], "0.2.0"],
])("bun run histories refuses %j", async (parameters, message) => {
  const child = Bun.spawn([process.execPath, join(ROOT, "tests/histories/main.ts"), ...parameters], {
    stdout: "ignore",
    stderr: "pipe",
  });
  expect(await child.stderr.text()).toContain(message);
  expect(await child.exited).toBe(2);
});
