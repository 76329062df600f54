/** Tests a TypeScript client that is generated from the descriptions (ER-22). */
import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { EXPECTED, run, SERVICES, startClientServices } from "./clients/services.ts";

const ROOT = join(import.meta.dir, "../..");
/** A folder in the tests' node_modules: imports of generated code resolve there, and git ignores it. */
const CACHE = join(ROOT, "tests/node_modules/.cache");
const GENERATOR = join(ROOT, "tests/node_modules/openapi-typescript/bin/cli.js");
const COMPILER = join(ROOT, "node_modules/typescript/bin/tsc");

/**
 * The source of a program that uses the generated clients. It is not a `.ts` file, because its imports do not
 * exist.
 */
const program = await Bun.file(join(import.meta.dir, "clients/client.ts.txt")).text();

// ER-22
test("a generated TypeScript client compiles strictly, without casts, and works", async () => {
  await mkdir(CACHE, { recursive: true });
  await using services = await startClientServices(CACHE);
  const { folder } = services;
  for (const name of SERVICES) {
    const generated = await run([process.execPath, GENERATOR, `${name}.json`, "--output", `${name}.ts`], {
      cwd: folder,
    });
    expect(generated).toMatchObject({ code: 0 });
  }
  await Bun.write(join(folder, "client.ts"), program);
  await Bun.write(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: { types: ["bun"] },
      include: ["*.ts"],
      // The root's tsconfig.json excludes this folder.
      exclude: [],
    }),
  );
  expect(program).not.toMatch(/\bas (?!AuditPaths|IdentityPaths|RegistryPaths)|\bany\b|[\w)\]]!\W/);
  expect(await run([process.execPath, COMPILER, "--noEmit", "--project", "."], { cwd: folder })).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
  const answer = await run([process.execPath, "client.ts"], { cwd: folder, env: services.env });
  expect(answer).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(answer.stdout)).toEqual(EXPECTED);
}, 120_000);
