import { expect, test } from "bun:test";
import { runToEnd } from "../../../support/processes/run-to-end.ts";

// One example for each program. Every other wrong usage is tested in tests/nightly/histories/unit and
// tests/nightly/upgrade/unit.
test.each([
  ["histories", "--minutes takes a number above 0.\n", ["--minutes", "0"]],
  ["upgrade", "upgrade --short takes no versions.\n", ["--short", "1.0.0"]],
])("bun run %s exits with 2 and a message for wrong usage", async (run, message, parameters) => {
  const { exitCode, stderr } = await runToEnd([
    process.execPath,
    `tests/nightly/${run}/main.ts`,
    ...parameters,
  ]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: message });
});
