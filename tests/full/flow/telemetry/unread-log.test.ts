import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

// OP-44
test("log lines are dropped, without a delay and in bounded memory, when nobody reads standard output", async () => {
  const folder = temporaryFolder("pipe");
  const pipe = join(folder, "pipe");
  Bun.spawnSync(["mkfifo", pipe]);
  // Opening the pipe for reading and writing keeps it open, but the test never reads from it.
  const stdout = openSync(pipe, "r+");
  try {
    const child = Bun.spawn(
      [process.execPath, `${import.meta.dir}/../../../support/processes/unread-stdout-process.ts`],
      {
        stdin: "ignore",
        stdout,
        stderr: "pipe",
      },
    );
    const counted = JSON.parse(await new Response(child.stderr).text());
    expect(await child.exited).toBe(0);
    expect(counted.dropped).toBeGreaterThan(100_000);
    expect(counted.dropped).toBeLessThan(200_000);
    // The process logged nearly 100 MB. More than 100 000 of its 200 000 lines were dropped.
    expect(counted.rss_bytes).toBeLessThan(400_000_000);
  } finally {
    closeSync(stdout);
  }
}, 60_000);
