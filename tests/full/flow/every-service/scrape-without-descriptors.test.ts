import { expect, test } from "bun:test";
import { runToEnd } from "../../../support/processes/run-to-end.ts";

// OP-99
test.skipIf(process.platform !== "linux")("a scrape succeeds while no file descriptor is free", async () => {
  const command = `ulimit -n 64 && exec "$0" tests/support/processes/descriptors-used-up-process.ts`;
  expect(await runToEnd(["sh", "-c", command, process.execPath])).toEqual({
    exitCode: 0,
    stdout: "true",
    stderr: "",
  });
});
