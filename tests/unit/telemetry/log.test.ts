import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { accessSample, createLog, type LogOptions } from "@ostiary/lib/runtime/telemetry";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Returns the log lines that `write` makes, after the log is flushed. */
async function logged(level: LogOptions["level"], write: (sink: ReturnType<typeof createLog>) => void) {
  const file = join(temporaryFolder("log"), "log");
  const sink = createLog({ service: "gateway", level, file });
  write(sink);
  await sink.flush();
  const lines = (await Bun.file(file).text()).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

describe("a log line", () => {
  // OP-36
  test("is JSON with timestamp, level, message, service and its fields", async () => {
    const lines = await logged("info", ({ log }) => {
      log.info({ route: "/a", status: 200 }, "request completed");
    });
    expect(lines).toEqual([
      {
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        level: "info",
        service: "gateway",
        message: "request completed",
        route: "/a",
        status: 200,
      },
    ]);
  });

  // OP-35
  test("is written from debug up after a switch of the level, and from the original level after the next", async () => {
    const lines = await logged("warn", (sink) => {
      for (const message of ["before", "between", "after"]) {
        sink.log.debug({}, message);
        if (message !== "after") sink.switchLevel();
      }
    });
    const messages = lines.map(({ message, log_level }) => log_level ?? message);
    expect(messages).toEqual(["debug", "between", "warn"]);
  });
});

describe("the share of access lines", () => {
  // OP-43
  test.each([
    [1, 1_000],
    [0.25, 250],
    [0.1, 100],
    [0, 0],
  ])("%p is kept evenly", (share, kept) => {
    const sample = accessSample(share);
    const lines = Array.from({ length: 1_000 }, () => sample(200)).filter(Boolean).length;
    expect(Math.abs(lines - kept)).toBeLessThanOrEqual(1);
  });

  // OP-43
  test("does not apply to refused, failed and canceled requests", () => {
    const sample = accessSample(0);
    expect([200, 204, 304, 400, 401, 404, 429, 499, 500, 503].filter(sample)).toEqual([
      400, 401, 404, 429, 499, 500, 503,
    ]);
  });
});
