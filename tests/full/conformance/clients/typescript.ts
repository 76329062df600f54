import { expect } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../../../support/root.ts";
import { type Run, run } from "./services.ts";

/** A folder in the tests' node_modules: imports of generated code resolve there, and git ignores it. */
export const CACHE = join(ROOT, "tests/node_modules/.cache");
const GENERATOR = join(ROOT, "tests/node_modules/openapi-typescript/bin/cli.js");
const COMPILER = join(ROOT, "node_modules/typescript/bin/tsc");

/** Returns the source of a program. It is not a `.ts` file, because it imports generated code. */
export function typeScriptProgram(name: string): Promise<string> {
  return Bun.file(join(import.meta.dir, `${name}.ts.txt`)).text();
}

/** Generates clients in `cwd`, one for each description, and compiles and runs a program that uses them. */
export async function runTypeScript(
  program: string,
  names: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<Run> {
  const { cwd } = options;
  for (const name of names) {
    const command = [process.execPath, GENERATOR, `${name}.json`, "--output", `${name}.ts`];
    expect(await run(command, { cwd })).toMatchObject({ code: 0 });
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
  const compiled = await run([process.execPath, COMPILER, "--noEmit", "--project", "."], { cwd });
  expect(compiled).toEqual({ code: 0, stdout: "", stderr: "" });
  return run([process.execPath, "client.ts"], options);
}
