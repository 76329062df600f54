import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../support/root.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const FOLDER = join(ROOT, "apps/platform/deploy/systemd");

test.skipIf(Bun.which("systemd-analyze") === null)("systemd-analyze accepts the units", () => {
  const folder = temporaryFolder("units");
  const units = readdirSync(FOLDER).filter((file) => !file.endsWith(".env"));
  for (const unit of units) {
    const text = readFileSync(join(FOLDER, unit), "utf8");
    // systemd-analyze checks that the program exists, so the copy names this machine's Bun.
    const here = text.replaceAll("/usr/local/bin/bun", process.execPath);
    writeFileSync(join(folder, unit.replace("@", "@8101")), here);
  }
  const paths = readdirSync(folder).map((file) => join(folder, file));
  const { exitCode, stderr } = Bun.spawnSync(["systemd-analyze", "verify", "--man=no", ...paths]);
  expect({ exitCode, said: stderr.toString() }).toEqual({ exitCode: 0, said: "" });
});
