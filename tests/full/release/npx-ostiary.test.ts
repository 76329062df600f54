/** Tests of the package `ostiary`, from packed archives that npm installs into an empty folder. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import root from "../../../package.json" with { type: "json" };
import { FREE_PORTS } from "../../app/platform/bed.ts";
import { packCommand, packExecutable } from "../../release/command-packages.ts";
import { canRunExecutable, executable } from "../../support/processes/executable.ts";
import { runToEnd } from "../../support/processes/run-to-end.ts";
import { startCommand } from "../../support/processes/start-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { startScreen } from "../flow/platform/bed.ts";

setDefaultTimeout(240_000);

const npm = Bun.which("npm");
const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
let folder: string;

function install(...archives: string[]) {
  return runToEnd([npm ?? "", "install", "--no-audit", "--no-fund", ...archives], { cwd: folder, env });
}

describe.skipIf(!canRunExecutable || npm === null)("the package ostiary, installed from its archives", () => {
  let command: string;
  beforeAll(async () => {
    folder = temporaryFolder("npx");
    const packed = temporaryFolder("npx-packed");
    command = await packCommand(packed);
    const system = await packExecutable("linux-x64", await executable(), packed);
    const { exitCode, stderr } = await install(command, system);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  });

  // OP-140
  test("has the command ostiary, with the exit codes and the output of the executable", async () => {
    const version = await runToEnd(["npx", "--offline", "ostiary", "--version"], { cwd: folder, env });
    expect(version).toEqual({ exitCode: 0, stdout: `${root.version}\n`, stderr: "" });
    const wrong = await runToEnd(["npx", "--offline", "ostiary", "no-such-command"], { cwd: folder, env });
    expect(wrong.exitCode).not.toBe(0);
    expect(wrong.stderr).toContain("no-such-command");
  });

  // OP-140
  test.each(["SIGINT", "SIGTERM"] as const)(
    "starts everything without a download, and passes %s on",
    async (signal) => {
      // Nothing responds at the registry of packages.
      const offline = { ...env, npm_config_registry: "http://127.0.0.1:1" };
      const command = [join(folder, "node_modules/.bin/ostiary"), "start"];
      const platform = await startCommand(
        command,
        { ...offline, ...FREE_PORTS, LOG_FILE: "-", DATA_DIR: "data" },
        folder,
      );
      const shown = await startScreen(platform);
      const gateway = shown.gateway?.split(" ")[0] ?? "";
      expect((await fetch(`${gateway}/demo/things/1`)).status).toBe(401);
      expect(await platform.stop(signal)).toBe(0);
      expect(platform.stdout.at(-1)).toStartWith("Goodbye.");
      expect(platform.stderr).toEqual([]);
    },
  );

  // OP-140
  test("says what is missing without the executable of this system", async () => {
    await rm(join(folder, "node_modules/@ostiary"), { recursive: true });
    const { exitCode, stderr } = await runToEnd([join(folder, "node_modules/.bin/ostiary"), "start"], {
      cwd: folder,
      env,
    });
    expect(exitCode).toBe(1);
    expect(stderr).toStartWith("ostiary: the package @ostiary/linux-x64 is not installed.");
    expect(readdirSync(join(folder, "node_modules"))).not.toContain("@ostiary");
  });
});
