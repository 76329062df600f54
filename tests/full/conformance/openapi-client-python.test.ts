/**
 * Tests a Python client that is generated from the descriptions (ER-22). Skipped if openapi-python-client is
 * not installed. If mypy is installed, it checks the client's types.
 */
import { expect, test } from "bun:test";
import { generatePython, PYTHON_IS_MISSING, PYTHON_REASON, runPython } from "./clients/python.ts";
import { EXPECTED, run, SERVICES, startClientServices } from "./clients/services.ts";

const MYPY = Bun.which("mypy");

// ER-22
test.skipIf(PYTHON_IS_MISSING)(
  `a generated Python client works${PYTHON_REASON}`,
  async () => {
    await using services = await startClientServices();
    const cwd = services.folder;
    await generatePython(SERVICES, cwd);
    if (MYPY !== null) {
      // Check only the code that depends on the descriptions; all other files are the generator's fixed code.
      const made = SERVICES.flatMap((name) => [`${name}_client/models`, `${name}_client/api`]);
      const checked = await run([MYPY, "--no-incremental", "--follow-imports=silent", ...made], { cwd });
      expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("no issues found") });
    }
    const answer = await runPython("client.py", { cwd, env: services.env });
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual(EXPECTED);
  },
  120_000,
);
