import { existsSync } from "node:fs";
import { join } from "node:path";

const MODULE = "golang.org/x/mod";
const VERSION = "v0.22.0";

export const GO_MODULE = `module reader

go 1.22

require ${MODULE} ${VERSION}
`;

/** Returns whether Go and the module are installed, so that a test does not download anything. */
function isInstalled(): boolean {
  if (Bun.which("go") === null) return false;
  const { stdout } = Bun.spawnSync(["go", "env", "GOMODCACHE"]);
  return existsSync(join(stdout.toString().trim(), `${MODULE}@${VERSION}`));
}

export const hasGoModule = isInstalled();
export const reasonWithoutGo = hasGoModule
  ? ""
  : ` (skipped: go, or its module ${MODULE} ${VERSION}, is not installed)`;
