import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog, type Logger, type LogOptions } from "@ostiary/lib/runtime/telemetry";

/** The lines that `write` leaves in a log, read once it is flushed. */
async function logged(level: LogOptions["level"], write: (log: Logger) => void): Promise<unknown[]> {
  const folder = await mkdtemp(join(tmpdir(), "ostiary-log-"));
  try {
    const file = join(folder, "log");
    const { log, flush } = createLog({ service: "gateway", level, file });
    write(log);
    await flush();
    const text = await Bun.file(file).text();
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("a log line", () => {
  test("is JSON with timestamp, level, message, service and its fields", async () => {
    const lines = await logged("info", (log) => {
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

  test.each<[LogOptions["level"], string[]]>([
    ["debug", ["debug", "info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
  ])("is written from the level %s up", async (level, expected) => {
    const lines = await logged(level, (log) => {
      for (const each of ["debug", "info", "warn", "error"] as const) log[each]({}, "said");
    });
    expect(lines).toMatchObject(expected.map((each) => ({ level: each })));
  });

  test("stays one line, whatever its fields hold", async () => {
    const lines = await logged("info", (log) => {
      log.info({ path: '/a\n{"level":"error"}\r\u2028' }, "request\ncompleted");
    });
    expect(lines).toMatchObject([{ path: '/a\n{"level":"error"}\r\u2028', message: "request\ncompleted" }]);
  });

  test("says of an error what it was, and where", async () => {
    const lines = await logged("info", (log) => log.error({ err: new TypeError("broke"), try: 2 }, "failed"));
    const err = { type: "TypeError", message: "broke", stack: expect.stringContaining("log.test.ts") };
    expect(lines).toMatchObject([{ level: "error", err, try: 2, message: "failed" }]);
  });

  test("is not lost when the log is flushed", async () => {
    const lines = await logged("info", (log) => {
      for (let count = 0; count < 2_000; count++) log.info({ count }, "said");
    });
    expect(lines).toHaveLength(2_000);
  });
});
