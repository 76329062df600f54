/** Tests of the command lines `ostiary` and `bun start`: help, versions and wrong usage. */
import { describe, expect, test } from "bun:test";
import { runCommandLine } from "../../../apps/cli/program.ts";
import { programs } from "../../../apps/platform/programs.ts";
import { wordsOf } from "../../support/words.ts";

const PROGRAMS = ["start", "gateway", "registry", "identity", "audit", "portal", "demo"];
const COMMANDS = wordsOf(`
  apply diff services export delete revisions restore explain gateways
`);

async function run(name: string, cli: string, parameters: string[]) {
  let stdout = "";
  let stderr = "";
  const { addMore, chosen } = await programs({ name, cli, parameters, env: {} });
  const exitCode = await runCommandLine({
    name,
    parameters,
    addMore,
    variable: () => undefined,
    terminal: {
      write: (text) => {
        stdout += text;
      },
      writeError: (text) => {
        stderr += text;
      },
      readInput: async () => new Uint8Array(),
      ask: null,
      colors: false,
      progress: false,
      interruption: new AbortController().signal,
    },
  });
  return { exitCode, stdout, stderr, isChosen: chosen() !== undefined };
}

const ostiary = (...parameters: string[]) => run("ostiary", "ostiary", parameters);
const bunStart = (...parameters: string[]) => run("bun", "bun cli", ["start", ...parameters]);

describe("--help", () => {
  test("of ostiary lists every program and every command", async () => {
    const { exitCode, stdout, stderr } = await ostiary("--help");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    for (const name of [...PROGRAMS, ...COMMANDS])
      expect(stdout).toMatch(new RegExp(`^  ${name} .*\\w`, "m"));
    expect(stdout).not.toContain("bun");
  });

  test.each(COMMANDS)("of %s shows examples with the name of the program", async (name) => {
    const { stdout } = await ostiary(name, "--help");
    expect(stdout).toContain(`$ ostiary ${name}`);
    expect(stdout).not.toContain("bun cli");
  });

  // OP-135
  test.each(PROGRAMS)("of %s shows its variables, and runs nothing", async (name) => {
    const { exitCode, stdout, isChosen } = await ostiary(name, "--help");
    expect({ exitCode, isChosen }).toEqual({ exitCode: 0, isChosen: false });
    expect(stdout).toStartWith(`Usage: ostiary ${name} `);
    expect(stdout).toMatch(/^ {2}HOST \(\S+\)\n {6}\S/m);
    expect(stdout).toContain(`\nThe README is apps/${name === "start" ? "platform" : name}/README.md.\n`);
  });
});

test("--version prints the product's version, also after the name of a program", async () => {
  const { version } = await Bun.file("package.json").json();
  for (const shown of [
    await ostiary("--version"),
    await ostiary("gateway", "--version"),
    await bunStart("--version"),
  ])
    expect(shown).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
});

test.each([
  [["gatway"], "Did you mean gateway?"],
  [["gateway", "registry"], "too many arguments for 'gateway'"],
  [["audit", "verify"], "missing required argument 'file'"],
  [["start", "now"], "too many arguments for 'start'"],
  [["start", "apply", "routes.yaml"], "too many arguments for 'start'"],
  [[""], "unknown command ''"],
])("the arguments %j are wrong usage: %s", async (parameters, message) => {
  const wrong = await ostiary(...parameters);
  expect(wrong).toMatchObject({ exitCode: 2, stdout: "", isChosen: false });
  expect(wrong.stderr).toContain(message);
});

describe("audit migrate --role", () => {
  const migrate = (role: string) => ostiary("audit", "migrate", "--role", role);

  // The limit is in bytes: each of these letters has two.
  test.each(["r", "r".repeat(63), `${"ü".repeat(31)}r`])("accepts %j", async (role) => {
    expect(await migrate(role)).toMatchObject({ exitCode: 0, stderr: "", isChosen: true });
  });

  test.each(["", "r".repeat(64), "ü".repeat(32)])("refuses %j", async (role) => {
    const told = await migrate(role);
    expect(told).toMatchObject({ exitCode: 2, isChosen: false });
    expect(told.stderr).toContain("Give a name of 1 to 63 bytes.");
  });
});
