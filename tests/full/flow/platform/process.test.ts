/** Tests of `bun start` as a process. `tests/app/platform` tests the platform in the process of the test. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { openDataDirectory } from "../../../../apps/platform/data-directory.ts";
import { FREE_PORTS } from "../../../app/platform/bed.ts";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { ProcessEnded } from "../../../support/processes/start-process.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { startPlatform, startScreen } from "./bed.ts";

setDefaultTimeout(180_000);

const parent = temporaryFolder("process");

/** Runs a bash pipeline in which `$START` is the platform. The output ends with the exit code of each command. */
async function bash(line: string, variables: Record<string, string> = {}) {
  const START = `${process.execPath} apps/platform/main.ts`;
  const env = { PATH: process.env.PATH ?? "", HOME: parent, START, ...FREE_PORTS, ...variables };
  const { stdout, stderr } = await runToEnd(["bash", "-c", `${line}; echo "codes \${PIPESTATUS[*]}"`], {
    env,
  });
  return { stdout, stderr };
}

test("the platform has exit codes, and reports no error when the reader of its output exits first", async () => {
  expect(await bash("$START --help | true")).toEqual({ stdout: "codes 0 0\n", stderr: "" });
  expect(await bash("$START --nosuch")).toEqual({
    stdout: "codes 2\n",
    stderr: expect.stringContaining("error: unknown option '--nosuch'"),
  });
  const DATA_DIR = join(parent, "unread");
  expect(await bash("$START | head -1", { DATA_DIR, DATABASE_URL: await freshDatabase() })).toEqual({
    stdout: "Opening the stores ...\ncodes 0 0\n",
    stderr: "",
  });
  expect(await readdir(DATA_DIR)).not.toContain("platform.pid");
});

// OP-5
test("the platform exits with 78 before it writes anything if its variables are wrong", async () => {
  const DATA_DIR = join(parent, "unwritten");
  expect(await bash("$START", { DATA_DIR, DEMO: "maybe", RATE_LIMIT_REQUESTS: "-1" })).toEqual({
    stdout: "codes 78\n",
    stderr: expect.stringMatching(/^The configuration is not valid:\n {2}(DEMO|RATE_LIMIT_REQUESTS) /),
  });
  expect(await readdir(parent)).not.toContain("unwritten");
});

// OP-56, OP-97
test("one of two platforms that start at once uses the folder, and a killed platform leaves it free", async () => {
  const DATA_DIR = join(parent, "contended");
  const nowhere = "http://127.0.0.1:1";
  // The parts of the platform call each other directly.
  const proxies = { HTTP_PROXY: nowhere, http_proxy: nowhere, NO_PROXY: "example.com" };
  const env = { DATA_DIR, DATABASE_URL: await freshDatabase(), ...proxies };
  const both = await Promise.allSettled([startPlatform(env), startPlatform(env)]);
  const [winner] = both.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const [loser] = both.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  if (!winner || !(loser instanceof ProcessEnded)) throw new Error(Bun.inspect(both));
  atTestEnd(() => winner.kill());
  expect([loser.exitCode, loser.stderr]).toEqual([
    78,
    [
      "The configuration is not valid:",
      `  DATA_DIR is ${DATA_DIR}, which cannot be used: Ostiary already runs there, as process ${winner.pid}: use that Ostiary, or stop it first.`,
    ],
  ]);
  const shown = await startScreen(winner);
  expect((await fetch(shown["customer portal"] ?? "")).status).toBe(200);
  expect(winner.stdout.join("\n")).not.toMatch(/is not ready|does not serve all/);
  await winner.kill();
  await (await openDataDirectory(DATA_DIR)).close();
});

// Root may write to every folder. If the tests run as root, the platform therefore runs as `nobody`.
// OP-57
test.skipIf(Bun.which("setpriv") === null && process.getuid?.() === 0)(
  "a folder that the user may not write to is refused",
  async () => {
    const path = join(parent, "closed");
    await mkdir(path);
    await chmod(parent, 0o755);
    await chmod(path, 0o555);
    const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    const { exitCode, stderr } = await runToEnd(
      [...(process.getuid?.() === 0 ? asNobody : []), process.execPath, "apps/platform/main.ts"],
      { env: { PATH: process.env.PATH, ...FREE_PORTS, DATA_DIR: path } },
    );
    expect(stderr).toContain(`DATA_DIR is ${path}, which cannot be used: permission denied.\n`);
    expect(exitCode).toBe(78);
  },
);
