/** Tests clients that are generated from the descriptions (ER-22), in each language whose generator is installed. */
import { expect, test } from "bun:test";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ROOT } from "../../support/root.ts";
import { EXPECTED, type Run, run, SERVICES, startClientServices } from "./clients/services.ts";

const PROGRAMS = join(import.meta.dir, "clients");
const TIMEOUT_MS = 300_000;
/** A folder in the tests' node_modules: imports of generated code resolve there, and git ignores it. */
const CACHE = join(ROOT, "tests/node_modules/.cache");
const TYPESCRIPT_GENERATOR = join(ROOT, "tests/node_modules/openapi-typescript/bin/cli.js");
const TYPESCRIPT = join(ROOT, "node_modules/typescript/bin/tsc");
const GO_GENERATOR = Bun.which("go") === null ? null : Bun.which("oapi-codegen");
const PYTHON_GENERATOR = Bun.which("openapi-python-client");
const MYPY = Bun.which("mypy");

/** Returns the end of a test's name, which says why the test is skipped. */
const skipped = (generator: string | null, tools: string) =>
  generator === null ? ` (skipped: ${tools} is not installed)` : "";

async function succeed(cwd: string, ...command: string[]): Promise<void> {
  expect(await run(command, { cwd })).toMatchObject({ code: 0 });
}

function expectOutput(run: Run): void {
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(run.stdout)).toEqual(EXPECTED);
}

// ER-22
test(
  "a generated TypeScript client compiles strictly, without casts, and works",
  async () => {
    await mkdir(CACHE, { recursive: true });
    await using services = await startClientServices(CACHE);
    const { folder: cwd, env } = services;
    // The program is not a `.ts` file, because it imports generated code.
    const program = await Bun.file(join(PROGRAMS, "client.ts.template")).text();
    expect(program).not.toMatch(/\bas (?!AuditPaths|IdentityPaths|RegistryPaths)|\bany\b|[\w)\]]!\W/);
    for (const name of SERVICES) {
      await succeed(cwd, process.execPath, TYPESCRIPT_GENERATOR, `${name}.json`, "--output", `${name}.ts`);
    }
    await Bun.write(join(cwd, "client.ts"), program);
    const settings = {
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: { types: ["bun"] },
      include: ["*.ts"],
      // The root's tsconfig.json excludes this folder.
      exclude: [],
    };
    await Bun.write(join(cwd, "tsconfig.json"), JSON.stringify(settings));
    const compiled = await run([process.execPath, TYPESCRIPT, "--noEmit", "--project", "."], { cwd });
    expect(compiled).toEqual({ code: 0, stdout: "", stderr: "" });
    expectOutput(await run([process.execPath, "client.ts"], { cwd, env }));
  },
  TIMEOUT_MS,
);

const GO_MODULE = `module clients

go 1.24

require (
	github.com/oapi-codegen/nullable v1.1.0
	github.com/oapi-codegen/runtime v1.8.0
)
`;

// ER-22
test.skipIf(GO_GENERATOR === null)(
  `a generated Go client compiles and works${skipped(GO_GENERATOR, "go or oapi-codegen")}`,
  async () => {
    await using services = await startClientServices();
    const { folder: cwd, env } = services;
    for (const name of SERVICES) {
      await mkdir(join(cwd, name));
      // With `nullable-type`, programs can distinguish a field that is null from a missing field.
      const settings = {
        package: name,
        output: `${name}/client.go`,
        generate: { models: true, client: true },
        "output-options": { "nullable-type": true },
      };
      await Bun.write(join(cwd, `${name}.yaml`), JSON.stringify(settings));
      await succeed(cwd, String(GO_GENERATOR), "-config", `${name}.yaml`, `${name}.json`);
    }
    await Bun.write(join(cwd, "go.mod"), GO_MODULE);
    await copyFile(join(PROGRAMS, "client.go"), join(cwd, "client.go"));
    await succeed(cwd, "go", "mod", "tidy");
    await succeed(cwd, "go", "vet", "./...");
    expectOutput(await run(["go", "run", "."], { cwd, env }));
  },
  TIMEOUT_MS,
);

// ER-22
test.skipIf(PYTHON_GENERATOR === null)(
  `a generated Python client works${skipped(PYTHON_GENERATOR, "openapi-python-client")}`,
  async () => {
    await using services = await startClientServices();
    const { folder: cwd, env } = services;
    for (const name of SERVICES) {
      const output = ["--output-path", `${name}_client`, "--meta", "none"];
      await succeed(cwd, String(PYTHON_GENERATOR), "generate", "--path", `${name}.json`, ...output);
    }
    if (MYPY !== null) {
      // Check only the code that depends on the descriptions; all other files are the generator's fixed code.
      const made = SERVICES.flatMap((name) => [`${name}_client/models`, `${name}_client/api`]);
      const checked = await run([MYPY, "--no-incremental", "--follow-imports=silent", ...made], { cwd });
      expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("no issues found") });
    }
    // The generator's interpreter has the packages that the clients need.
    const python = Bun.which("python3", { PATH: dirname(String(PYTHON_GENERATOR)) }) ?? "python3";
    expectOutput(await run([python, join(PROGRAMS, "client.py")], { cwd, env: { ...env, PYTHONPATH: cwd } }));
  },
  TIMEOUT_MS,
);
