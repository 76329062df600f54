/**
 * Tests a Python client that is generated from the descriptions (ER-22). Skipped if openapi-python-client is
 * not installed. If mypy is installed, it checks the client's types.
 */
import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { EXPECTED, run, SERVICES, startClientServices } from "./clients/services.ts";

const GENERATOR = Bun.which("openapi-python-client");
const reason = GENERATOR === null ? " (skipped: openapi-python-client is not installed)" : "";
const MYPY = Bun.which("mypy");
const PROGRAM = join(import.meta.dir, "clients/client.py");

// ER-22
test.skipIf(GENERATOR === null)(
  `a generated Python client works${reason}`,
  async () => {
    await using services = await startClientServices();
    const cwd = services.folder;
    const generator = String(GENERATOR);
    for (const name of SERVICES) {
      const output = ["--output-path", `${name}_client`, "--meta", "none"];
      const command = [generator, "generate", "--path", `${name}.json`, ...output];
      expect(await run(command, { cwd })).toMatchObject({ code: 0 });
    }
    if (MYPY !== null) {
      // Check only the code that depends on the descriptions; all other files are the generator's fixed code.
      const made = SERVICES.flatMap((name) => [`${name}_client/models`, `${name}_client/api`]);
      const checked = await run([MYPY, "--no-incremental", "--follow-imports=silent", ...made], { cwd });
      expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("no issues found") });
    }
    // Use the interpreter beside the generator, because it has the packages that the client needs.
    const beside = Bun.which("python3", { PATH: dirname(generator) }) ?? "python3";
    const env = { ...services.env, PYTHONPATH: cwd };
    const answer = await run([beside, PROGRAM], { cwd, env });
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual(EXPECTED);
  },
  120_000,
);
