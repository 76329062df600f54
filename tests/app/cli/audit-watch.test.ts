import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { KEY, OLD_KEY } from "../../support/audit/proof-exports.ts";
import { LogBuilder, logKeyText, ORIGIN } from "../../support/audit/proof-log.ts";
import { useCli } from "./bed.ts";

/** Returns a log of `size` leaves. */
function logOf(size: number, year = "2026", origin = ORIGIN): LogBuilder {
  const log = new LogBuilder([KEY], origin);
  for (let leaf = 0; leaf < size; leaf++) {
    log.write(`${year}-01-05T10:00:0${leaf}.000Z`);
    log.seal(`${year}-01-05T10:00:0${leaf}.500Z`);
  }
  return log;
}

describe("audit watch and audit key", () => {
  const { cli, directory } = useCli();
  /** The log that the server shows, and the size of its signed root; null for a server without a log. */
  let shown: { log: LogBuilder; size: number } | null = null;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch({ url }) {
      const path = new URL(url).pathname.slice("/audit-log/".length);
      if (shown === null) return new Response(null, { status: 404 });
      if (path === "checkpoint") return new Response(await shown.log.note(shown.size));
      if (path === "key") return new Response(`${shown.log.signers.map(logKeyText).join("\n")}\n`);
      const width = Number(/^tile\/0\/000\.p\/([0-9]+)$/.exec(path)?.[1] ?? Number.POSITIVE_INFINITY);
      const tile = shown.log.leafHashes();
      if (width > tile.length) return new Response(null, { status: 404 });
      return new Response(Buffer.concat(tile.slice(0, width)));
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const state = () => join(directory(), "root.txt");
  const watch = (...parameters: string[]) =>
    cli(["audit", "watch", url, "--state", state(), "--once", ...parameters]);
  beforeEach(() => rm(state(), { force: true }));
  afterAll(() => server.stop(true));

  // AU-147
  test("keeps the newest root while the log grows", async () => {
    shown = { log: logOf(2), size: 2 };
    expect((await watch()).stdout).toBe(
      "The root of audit.example.com/log of size 2: kept as the first root.\n",
    );
    shown = { log: logOf(5), size: 5 };
    const grown = await watch("--key", logKeyText(KEY));
    expect(grown).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("continues the kept root of size 2"),
    });
    expect(await Bun.file(state()).text()).toBe(await logOf(5).note(5));
    expect(await watch()).toMatchObject({ exitCode: 0 });
  });

  // AU-147
  test("keeps the larger root when a cache shows an older one", async () => {
    shown = { log: logOf(5), size: 5 };
    await watch();
    shown = { log: logOf(5), size: 3 };
    expect(await watch()).toMatchObject({ exitCode: 0 });
    expect(await Bun.file(state()).text()).toBe(await logOf(5).note(5));
  });

  // AU-147
  test.each([
    ["was set back", logOf(3), 3, "The log was set back to size 3; the kept root has size 4."],
    ["was rewritten and is as large", logOf(4, "2027"), 4, "differs from the kept one of the same size"],
    ["was rewritten and is larger", logOf(6, "2027"), 6, "does not begin with the kept one of size 4"],
    ["has another name", logOf(6, "2026", "new.example"), 6, "It names no earlier tree of that name."],
  ])("ends with 1 and keeps both roots when the log %s", async (_title, log, size, problem) => {
    shown = { log: logOf(4), size: 4 };
    await watch();
    shown = { log, size };
    const found = await watch();
    expect(found).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(problem) });
    expect(await Bun.file(state()).text()).toBe(await logOf(4).note(4));
    expect(await Bun.file(`${state()}.conflict`).text()).toBe(await log.note(size));
  });

  test("ends with 1 under another key, 4 without a log, and 2 for a state that is no root", async () => {
    shown = { log: logOf(2), size: 2 };
    expect(await watch("--key", logKeyText(OLD_KEY))).toMatchObject({ exitCode: 1 });
    await Bun.write(state(), "something else\n");
    expect(await watch()).toMatchObject({ exitCode: 2 });
    await rm(state());
    shown = null;
    expect(await watch()).toMatchObject({ exitCode: 4 });
  });

  test("prints the verifier keys of the log", async () => {
    shown = { log: logOf(1), size: 1 };
    expect(await cli(["audit", "key", url])).toMatchObject({ exitCode: 0, stdout: `${logKeyText(KEY)}\n` });
    shown = null;
    expect(await cli(["audit", "key", url])).toMatchObject({ exitCode: 4 });
    expect(await cli(["audit", "key", "ftp://x"])).toMatchObject({ exitCode: 2 });
  });
});
