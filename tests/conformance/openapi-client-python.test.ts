/** A Python client generated from the documents works (contract 7), where openapi-python-client is installed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ClientServices, EXPECTED, run, SERVICES, startClientServices } from "./clients/services.ts";

const GENERATOR = Bun.which("openapi-python-client");
const reason = GENERATOR === null ? " (left out: openapi-python-client is not on the path)" : "";
const PROGRAM = join(import.meta.dir, "clients/client.py");

let services: ClientServices | undefined;
let folder: string | undefined;
beforeAll(async () => {
  if (GENERATOR === null) return;
  folder = await mkdtemp(join(tmpdir(), "ostiary-client-"));
  services = await startClientServices();
});
afterAll(async () => {
  await services?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

test.skipIf(GENERATOR === null)(
  `a generated Python client works${reason}`,
  async () => {
    if (GENERATOR === null || services === undefined || folder === undefined) return;
    const cwd = folder;
    for (const name of SERVICES) {
      await Bun.write(join(cwd, `${name}.json`), JSON.stringify(await services.document(name)));
      const output = ["--output-path", `${name}_client`, "--meta", "none"];
      const command = [GENERATOR, "generate", "--path", `${name}.json`, ...output];
      expect(await run(command, { cwd })).toMatchObject({ code: 0 });
    }
    // the generator's own interpreter has what the client needs
    const beside = Bun.which("python3", { PATH: dirname(GENERATOR) }) ?? "python3";
    const env = { ...services.env, PYTHONPATH: cwd };
    const answer = await run([beside, PROGRAM], { cwd, env });
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual(EXPECTED);
  },
  120_000,
);
