import { beforeAll, describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { service } from "../../../app/registry/harness.ts";
import { leash } from "../../../support/processes/clean-up-after-kill.ts";
import { pathWith, scriptOf } from "../../../support/processes/path-with.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { environmentOf, useCli } from "./bed.ts";

const { registry, cli, file, directory } = useCli();

let env: Record<string, string> = {};
beforeAll(async () => {
  await registry.put("widgets", service("/widgets"));
  await registry.put("gadgets", service("/gadgets"));
  await registry.put("gadgets", service("/gadgets/more"));
  await file("my routes.yaml", "");
  await mkdir(join(directory(), "ostiary"));
  await file("ostiary/config.yaml", 'registries: { prod: { url: "http://a:1", token_env: PROD } }');
  const PATH = pathWith({ ostiary: scriptOf("apps/cli/main.ts") });
  env = { ...environmentOf(registry.url), PATH, XDG_CONFIG_HOME: directory(), TERM: "xterm" };
});

/** Runs `complete`, as the completion script of each shell does, and returns the suggested words. */
async function words(shell: string, ...typed: string[]): Promise<string[]> {
  const run = await cli(["complete", shell, "--", ...typed], { env: { XDG_CONFIG_HOME: directory() } });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  return run.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("\t")[0] ?? "");
}

describe("the suggested words", () => {
  test.each<[string[], string[]]>([
    [["appl"], ["apply"]],
    [["rev"], ["revisions"]],
    [["rest"], ["restore"]],
    [["complet"], ["completion"]],
    [
      ["nosuch", ""],
      ["apply", "diff"],
    ],
    [["--time"], ["--timeout"]],
    [["apply", "--dry"], ["--dry-run"]],
    [
      ["apply", "--fail-on="],
      ["--fail-on=opens", "--fail-on=breaks", "--fail-on=opens,breaks"],
    ],
    [
      ["diff", "gadgets", "--fail-on", "o"],
      ["opens", "opens,breaks"],
    ],
    [
      ["restore", "gadgets", ""],
      ["2", "1"],
    ],
    [["restore", "--timeout", "5", "widgets", ""], ["1"]],
    [["restore", "nosuch", ""], []],
    [
      ["diff", "gadgets", ""],
      ["2", "1"],
    ],
    [
      ["diff", "gadgets", "1", ""],
      ["2", "1"],
    ],
    [
      ["delete", "gadgets", "--if-revision", ""],
      ["2", "1"],
    ],
    [["delete", "--if-revision", ""], []],
    [
      ["diff", "x.yaml", "--output", ""],
      ["text", "json", "markdown"],
    ],
    [["diff", "x.yaml", "--output=m"], ["--output=markdown"]],
    [
      ["services", ""],
      ["gadgets", "widgets"],
    ],
    [["services", "wid"], ["widgets"]],
    [["--json", "delete", "g"], ["gadgets"]],
    [["delete", "--if-revision", "3", "g"], ["gadgets"]],
    [["delete", "widgets", ""], []],
    [["apply", ""], [":files"]],
    [
      ["diff", "wi"],
      ["widgets", ":files"],
    ],
    [
      ["explain", "P"],
      ["POST", "PUT", "PATCH"],
    ],
    [["explain", "GET", ""], []],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["--registry", ""], ["prod"]],
    [["services", "--registry=p"], ["--registry=prod"]],
    [["--timeout", ""], []],
  ])("fit the typed words %j", async (typed, expected) => {
    const found = await words("zsh", ...typed);
    expect(typed[0] === "nosuch" ? found.slice(0, 2) : found).toEqual(expected);
  });

  test("are only the values after = for bash, which splits words at =", async () => {
    expect(await words("bash", "diff", "x.yaml", "--output", "=", "m")).toEqual(["markdown"]);
    expect(await words("bash", "diff", "x.yaml", "--output", "=")).toEqual(["text", "json", "markdown"]);
    expect(await words("bash", "diff", "x.yaml", "--output")).toEqual(["--output"]);
  });

  test("leave out the services, without an error, when no registry answers", async () => {
    const away = { REGISTRY_URL: "http://127.0.0.1:1" };
    expect(await cli(["complete", "fish", "--", "services", ""], { env: away })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
    expect(
      (await cli(["complete", "fish", "--", "services", ""], { env: { ADMIN_TOKEN: "" } })).exitCode,
    ).toBe(0);
  });

  test("have a one-line description each", async () => {
    const { stdout } = await cli(["complete", "fish", "--", ""]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(8);
    for (const line of lines) expect(line).toMatch(/^[a-z]+\t[A-Za-z].+$/);
    expect(stdout).not.toContain("complete\t");
  });
});

test.each([["tcsh"], []])("completion %j is wrong usage", async (...shell) => {
  expect(await cli(["completion", ...shell])).toMatchObject({ exitCode: 2, stdout: "" });
});

/**
 * Starts a shell, loads the completion script with `setup`, types `keys`, and waits until `expected` is
 * shown.
 */
async function typed(shell: string[], setup: string, keys: string, expected: string): Promise<void> {
  const decoder = new TextDecoder();
  let screen = "";
  const child = Bun.spawn(shell, {
    cwd: directory(),
    env: { ...env, PS1: "ready> ", PROMPT: "ready> " },
    terminal: {
      cols: 200,
      data: (_, bytes) => {
        screen += decoder.decode(bytes, { stream: true });
      },
    },
  });
  leash().process(child.pid);
  try {
    child.terminal?.write(`${setup}; echo set''up\n`);
    await waitFor(() => screen.includes("setup"), { what: `the script in ${shell[0]}:\n${screen}` });
    screen = "";
    child.terminal?.write(keys);
    await waitFor(() => plain(screen).includes(expected), {
      what: `"${expected}" after ${JSON.stringify(keys)}`,
      timeoutMs: 20_000,
    });
  } finally {
    child.kill("SIGKILL");
    leash().release(child.pid);
    child.terminal?.close();
  }
}

/** Removes colors, cursor movements and the bell from terminal output. */
function plain(screen: string): string {
  return Bun.stripANSI(screen).replaceAll("\u0007", "");
}

const CASES: [string, string][] = [
  ["ostiary appl\t", "ostiary apply "],
  ["ostiary delete widg\t", "ostiary delete widgets"],
  ["ostiary diff x --output=mark\t", "--output=markdown"],
  ["ostiary apply --dry\t", "--dry-run"],
  ["ostiary apply my\t", "my\\ routes.yaml"],
];

describe.skipIf(Bun.which("bash") === null)("the completion script of bash", () => {
  test.each(CASES)("completes %j", (keys, expected) =>
    typed(["bash", "--norc", "--noprofile", "-i"], "source <(ostiary completion bash)", keys, expected),
  );
});

describe.skipIf(Bun.which("zsh") === null)("the completion script of zsh", () => {
  test.each(CASES)("completes %j", (keys, expected) =>
    typed(["zsh", "-f", "-i"], "source <(ostiary completion zsh)", keys, expected),
  );
});

describe.skipIf(Bun.which("fish") === null)("the completion script of fish", () => {
  test.each<[string, string]>([
    ["ostiary appl", "apply"],
    ["ostiary delete widg", "widgets"],
    ["ostiary diff x --output=mark", "--output=markdown"],
    ["ostiary apply --dry", "--dry-run"],
    ["ostiary apply my", "my routes.yaml"],
    ["ostiary diff ", "gadgets"],
  ])("completes %j", async (line, expected) => {
    const script = `ostiary completion fish | source; complete -C "${line}"`;
    const { stdout, stderr } = await runToEnd(["fish", "--no-config", "-c", script], {
      cwd: directory(),
      env: { ...env, HOME: directory() },
    });
    expect(stderr).toBe("");
    expect(stdout.split("\n").map((each) => each.split("\t")[0])).toContain(expected);
  });
});
