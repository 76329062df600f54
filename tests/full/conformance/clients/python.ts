import { expect } from "bun:test";
import { dirname, join } from "node:path";
import { type Run, run } from "./services.ts";

const GENERATOR = Bun.which("openapi-python-client");
export const PYTHON_IS_MISSING = GENERATOR === null;
/** The end of a test's name, which says why the test is skipped. */
export const PYTHON_REASON = PYTHON_IS_MISSING ? " (skipped: openapi-python-client is not installed)" : "";

/** Generates clients in `cwd`, one for each description. */
export async function generatePython(names: readonly string[], cwd: string, ...options: string[]) {
  for (const name of names) {
    const output = ["--output-path", `${name}_client`, "--meta", "none", ...options];
    const command = [String(GENERATOR), "generate", "--path", `${name}.json`, ...output];
    expect(await run(command, { cwd })).toMatchObject({ code: 0 });
  }
}

/** Runs a program with the generator's interpreter, which has the packages that the clients need. */
export function runPython(
  program: string,
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Run> {
  const beside = Bun.which("python3", { PATH: dirname(String(GENERATOR)) }) ?? "python3";
  return run([beside, join(import.meta.dir, program)], { cwd, env: { ...env, PYTHONPATH: cwd } });
}
