/**
 * Go's implementation of transparency logs (golang.org/x/mod) verifies a log of the library. The test is
 * skipped if Go or the module is not installed; a test of the audit service serves its tiles to the same program.
 */
import { expect, test } from "bun:test";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { KEY } from "../../support/audit/proof-exports.ts";
import { LogBuilder, logKeyText } from "../../support/audit/proof-log.ts";
import { runToEnd } from "../../support/processes/run-to-end.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { GO_MODULE, hasGoModule, reasonWithoutGo } from "./go-module.ts";

const SIZE = 7;

// AU-150, AU-151, AU-152, AU-153
test.skipIf(!hasGoModule)(
  `Go's checksum database code verifies the root, every leaf and every earlier tree${reasonWithoutGo}`,
  async () => {
    const log = new LogBuilder([KEY]);
    for (let leaf = 0; leaf < SIZE; leaf++) {
      log.write(`2026-01-05T10:00:0${leaf}.000Z`);
      log.seal(`2026-01-05T10:00:0${leaf}.500Z`);
    }
    const cwd = temporaryFolder("go");
    const bundle = log.leafTexts().flatMap((text) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(text));
      return [length, Buffer.from(text)];
    });
    await Bun.write(join(cwd, "go.mod"), GO_MODULE);
    await copyFile(join(import.meta.dir, "reader.go"), join(cwd, "main.go"));
    await Bun.write(join(cwd, "copy/checkpoint"), await log.note());
    await Bun.write(join(cwd, `copy/tile/0/000.p/${SIZE}`), Buffer.concat(log.leafHashes()));
    await Bun.write(join(cwd, `copy/tile/entries/000.p/${SIZE}`), Buffer.concat(bundle));
    const env = { ...process.env, GOFLAGS: "-mod=mod", GONOSUMDB: "*", GONOSUMCHECK: "1", GOPROXY: "off" };
    const run = await runToEnd(["go", "run", ".", "copy", logKeyText(KEY)], { cwd, env });
    expect(run).toEqual({ exitCode: 0, stdout: `${SIZE}\n`, stderr: "" });
  },
  300_000,
);
