/**
 * Tests a Go client that is generated from the descriptions (ER-22). Skipped if oapi-codegen is not
 * installed.
 */
import { expect, test } from "bun:test";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { GO_MODULE, goSettings } from "./clients/go.ts";
import { EXPECTED, run, SERVICES, startClientServices } from "./clients/services.ts";

const GENERATOR = Bun.which("go") === null ? null : Bun.which("oapi-codegen");
const reason = GENERATOR === null ? " (skipped: go or oapi-codegen is not installed)" : "";

// ER-22
test.skipIf(GENERATOR === null)(
  `a generated Go client compiles and works${reason}`,
  async () => {
    await using services = await startClientServices();
    const cwd = services.folder;
    const succeed = async (...command: string[]) =>
      expect(await run(command, { cwd })).toMatchObject({ code: 0 });
    for (const name of SERVICES) {
      await mkdir(join(cwd, name));
      await Bun.write(join(cwd, `${name}.yaml`), goSettings(name));
      await succeed(String(GENERATOR), "-config", `${name}.yaml`, `${name}.json`);
    }
    await Bun.write(join(cwd, "go.mod"), GO_MODULE);
    await copyFile(join(import.meta.dir, "clients/client.go"), join(cwd, "client.go"));
    await succeed("go", "mod", "tidy");
    await succeed("go", "vet", "./...");
    const answer = await run(["go", "run", "."], { cwd, env: services.env });
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual(EXPECTED);
  },
  300_000,
);
