import { expect } from "bun:test";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Run, run } from "./services.ts";

const GENERATOR = Bun.which("go") === null ? null : Bun.which("oapi-codegen");
export const GO_IS_MISSING = GENERATOR === null;
/** The end of a test's name, which says why the test is skipped. */
export const GO_REASON = GO_IS_MISSING ? " (skipped: go or oapi-codegen is not installed)" : "";

const MODULE = `module clients

go 1.24

require (
	github.com/oapi-codegen/nullable v1.1.0
	github.com/oapi-codegen/runtime v1.8.0
)
`;

/**
 * Returns the configuration of oapi-codegen for a package. The option `nullable-type` lets programs
 * distinguish a field that is null from a missing field.
 */
function settingsOf(name: string): string {
  return JSON.stringify({
    package: name,
    output: `${name}/client.go`,
    generate: { models: true, client: true },
    "output-options": { "nullable-type": true },
  });
}

/** Generates clients in `cwd`, one for each description, and checks and runs a program that uses them. */
export async function runGo(
  program: string,
  names: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<Run> {
  const { cwd } = options;
  const succeed = async (...command: string[]) =>
    expect(await run(command, { cwd })).toMatchObject({ code: 0 });
  for (const name of names) {
    await mkdir(join(cwd, name));
    await Bun.write(join(cwd, `${name}.yaml`), settingsOf(name));
    await succeed(String(GENERATOR), "-config", `${name}.yaml`, `${name}.json`);
  }
  await Bun.write(join(cwd, "go.mod"), MODULE);
  await copyFile(join(import.meta.dir, program), join(cwd, program));
  await succeed("go", "mod", "tidy");
  await succeed("go", "vet", "./...");
  return run(["go", "run", "."], options);
}
