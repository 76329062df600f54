import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A standard output that nobody reads: a pipe that is full. */
// OP-44
test("an unread log delays neither requests nor the end of the process, and is partly dropped", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ostiary-pipe-"));
  const pipe = join(folder, "pipe");
  Bun.spawnSync(["mkfifo", pipe]);
  // A reader that never reads.
  const stdout = openSync(pipe, "r+");
  try {
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/../../support/unread-stdout-process.ts`], {
      stdin: "ignore",
      stdout,
      stderr: "pipe",
    });
    const told = JSON.parse(await new Response(child.stderr).text());
    expect(await child.exited).toBe(0);
    expect(told.dropped).toBeGreaterThan(100_000);
    expect(told.dropped).toBeLessThan(200_000);
    // Nearly 100 MB were logged.
    expect(told.rss_bytes).toBeLessThan(400_000_000);
  } finally {
    closeSync(stdout);
    await rm(folder, { recursive: true });
  }
}, 60_000);
