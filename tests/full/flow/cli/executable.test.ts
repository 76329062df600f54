/** Tests of the compiled executable, run without Bun, Node and the packages of this repository. */
import { beforeAll, describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ADMIN_TOKEN, service } from "../../../app/registry/harness.ts";
import {
  buildExecutable,
  canRunExecutable,
  type Executable,
  runBuild,
} from "../../../support/processes/executable.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { ROOT } from "../../../support/root.ts";
import { type Run, useCli } from "./bed.ts";

const { registry, directory } = useCli();
const BUILD_MS = 120_000;

describe.skipIf(!canRunExecutable)("the executable", () => {
  let built: Executable;
  let executable = "";
  beforeAll(async () => {
    built = await buildExecutable();
    executable = built.path;
  }, BUILD_MS);

  /** Runs the executable in a temporary folder. It inherits no environment variable of the test. */
  function run(parameters: string[], { input = "", env = {}, cwd = directory() } = {}): Promise<Run> {
    const variables = { PATH: "/nowhere", HOME: directory(), REGISTRY_URL: registry.url, ADMIN_TOKEN };
    return runToEnd([executable, ...parameters], { cwd, env: { ...variables, ...env }, input });
  }

  test("is named by the build with its size, and SHA256SUMS contains its checksum", async () => {
    expect(built.said).toMatch(/^linux-x64 \S+ostiary-linux-x64, \d+ MiB, in [\d.]+ s\n$/);
    const sum = new Bun.CryptoHasher("sha256").update(await Bun.file(executable).bytes()).digest("hex");
    expect(await Bun.file(join(built.folder, "SHA256SUMS")).text()).toBe(`${sum}  ostiary-linux-x64\n`);
  });

  test("publishes, shows, exports and deletes", async () => {
    const input = JSON.stringify({ services: { alone: service("/alone") } });
    expect(await run(["apply", "-"], { input })).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await run(["explain", "get", "http://x/alone"])).stdout).toContain(
      "of alone serves this request",
    );
    const { stdout } = await run(["export", "alone"]);
    expect((await run(["diff", "-", "--fail-on=opens,breaks"], { input: stdout })).exitCode).toBe(0);
    expect((await run(["delete", "alone", "--yes"])).exitCode).toBe(0);
    expect((await run(["diff", "alone", "--fail-on=breaks"])).exitCode).toBe(3);
  });

  test("calls itself `ostiary` in help and messages, and never `bun`", async () => {
    const { version } = await Bun.file(join(ROOT, "package.json")).json();
    expect(await run(["--version"])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
    for (const parameters of [["--help"], ["apply", "--help"], ["completion", "--help"]]) {
      const { stdout } = await run(parameters);
      expect(stdout).toContain("$ ");
      expect(stdout).not.toContain("bun");
    }
    const away = await run(["delete", "a", "--yes", "--timeout", "1"], { env: { ADMIN_TOKEN: "wrong" } });
    expect(away).toMatchObject({
      exitCode: 1,
      stderr:
        "The registry does not accept ADMIN_TOKEN: set it to the token that the registry was started with.\n",
    });
  });

  test("reads no file of the current folder", async () => {
    const folder = join(directory(), "strange");
    await mkdir(folder);
    await writeFile(join(folder, ".env"), "REGISTRY_URL=http://127.0.0.1:1\nNO_COLOR=1\n");
    await writeFile(join(folder, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
    await writeFile(join(folder, "preload.ts"), 'console.log("preloaded"); process.exit(9);\n');
    await writeFile(join(folder, "package.json"), "{ not JSON");
    await writeFile(join(folder, "tsconfig.json"), "{ not JSON");
    const env = { REGISTRY_URL: "" };
    const elsewhere = await run(["services"], { cwd: folder, env });
    expect(elsewhere.stdout).not.toContain("preloaded");
    expect(elsewhere.stderr).not.toContain("127.0.0.1:1 ");
    expect((await run(["services"], { cwd: folder })).exitCode).toBe(0);
  });

  test("reads the profiles of its user", async () => {
    const home = join(directory(), "home");
    await mkdir(join(home, ".config/ostiary"), { recursive: true });
    const profiles = `registries: { here: { url: "${registry.url}", token_env: HERE } }`;
    await writeFile(join(home, ".config/ostiary/config.yaml"), profiles);
    const env = { HOME: home, HERE: ADMIN_TOKEN, REGISTRY_URL: "", ADMIN_TOKEN: "" };
    expect((await run(["services", "--registry", "here"], { env })).exitCode).toBe(0);
  });
});

test.each([[["nosuch"]], [["linux-x64", "nosuch"]]])(
  "a build for the unknown target in %j fails and lists the known targets",
  async (targets) => {
    const { exitCode, stderr } = await runBuild(...targets);
    expect(stderr).toContain("Use one of linux-x64, linux-arm64, darwin-x64, darwin-arm64.");
    expect(exitCode).toBe(1);
  },
);
