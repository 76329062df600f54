/** A Go client generated from the documents compiles and works (contract 7), where oapi-codegen is installed. */
import { expect, test } from "bun:test";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { EXPECTED, run, SERVICES, startClientServices } from "./clients/services.ts";

const GENERATOR = Bun.which("go") === null ? null : Bun.which("oapi-codegen");
const reason = GENERATOR === null ? " (left out: go and oapi-codegen are not both on the path)" : "";

const MODULE = `module clients

go 1.24

require (
	github.com/oapi-codegen/nullable v1.1.0
	github.com/oapi-codegen/runtime v1.8.0
)
`;

/** `nullable-type`: a field that is null is another thing than one that is left out. */
function settings(name: string): string {
  const what = { models: true, client: true };
  const options = { "nullable-type": true };
  return JSON.stringify({
    package: name,
    output: `${name}/client.go`,
    generate: what,
    "output-options": options,
  });
}

test.skipIf(GENERATOR === null)(
  `a generated Go client compiles and works${reason}`,
  async () => {
    await using services = await startClientServices();
    const cwd = services.folder;
    const succeed = async (...command: string[]) =>
      expect(await run(command, { cwd })).toMatchObject({ code: 0 });
    for (const name of SERVICES) {
      await mkdir(join(cwd, name));
      await Bun.write(join(cwd, `${name}.yaml`), settings(name));
      await succeed(String(GENERATOR), "-config", `${name}.yaml`, `${name}.json`);
    }
    await Bun.write(join(cwd, "go.mod"), MODULE);
    await copyFile(join(import.meta.dir, "clients/client.go"), join(cwd, "client.go"));
    await succeed("go", "mod", "tidy");
    await succeed("go", "vet", "./...");
    const answer = await run(["go", "run", "."], { cwd, env: services.env });
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual(EXPECTED);
  },
  300_000,
);
