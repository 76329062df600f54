/**
 * Go's implementation of transparency logs (golang.org/x/mod) verifies the tree of an audit service. The test
 * is skipped if Go or the module is not installed.
 */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { logKey, noteKeyText } from "@ostiary/lib/domain/tlog";
import { exportProof, keysOf, startProvenAudit, writeEvents } from "../../../app/audit/proof-bed.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { run } from "../clients/services.ts";

const MODULE = "golang.org/x/mod";
const VERSION = "v0.22.0";
const GO_MODULE = `module reader

go 1.22

require ${MODULE} ${VERSION}
`;
const ORIGIN = "log.example/go";

/** Returns whether Go and the module are installed, so that the test does not download anything. */
function hasModule(): boolean {
  if (Bun.which("go") === null) return false;
  const { stdout } = Bun.spawnSync(["go", "env", "GOMODCACHE"]);
  return existsSync(join(stdout.toString().trim(), `${MODULE}@${VERSION}`));
}

const isHere = hasModule();
const reason = isHere ? "" : ` (skipped: go, or its module ${MODULE} ${VERSION}, is not installed)`;

// AU-151, AU-152, AU-153
test.skipIf(!isHere)(
  `Go's checksum database code verifies the root, every entry and every earlier tree${reason}`,
  async () => {
    const audit = await startProvenAudit({
      env: { AUDIT_LOG_ORIGIN: ORIGIN },
      databaseUrl: "pglite://memory",
    });
    try {
      for (let n = 0; n < 7; n++) {
        await writeEvents(audit, 1);
        await exportProof(audit);
      }
      const [key] = await keysOf(audit);
      const cwd = temporaryFolder("go");
      await Bun.write(join(cwd, "go.mod"), GO_MODULE);
      await copyFile(join(import.meta.dir, "reader.go"), join(cwd, "main.go"));
      const copied = async (path: string) => {
        const answer = await audit.get(`/audit-log/${path}`);
        expect(answer.status).toBe(200);
        await Bun.write(join(cwd, "copy", path), await answer.bytes());
      };
      await copied("checkpoint");
      const width = (await Bun.file(join(cwd, "copy/checkpoint")).text()).split("\n")[1];
      await copied(`tile/0/000.p/${width}`);
      await copied(`tile/entries/000.p/${width}`);
      const verifier = noteKeyText(logKey(key ?? { x: "" }, ORIGIN));
      const env = { GOFLAGS: "-mod=mod", GONOSUMDB: "*", GONOSUMCHECK: "1", GOPROXY: "off" };
      const answer = await run(["go", "run", ".", "copy", verifier], { cwd, env });
      expect({ ...answer, stdout: "" }).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(answer.stdout.trim()).toBe(width ?? "");
    } finally {
      await audit.stop();
    }
  },
  300_000,
);
