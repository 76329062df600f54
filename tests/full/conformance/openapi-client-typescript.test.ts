/** Tests a TypeScript client that is generated from the descriptions (ER-22). */
import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { EXPECTED, SERVICES, startClientServices } from "./clients/services.ts";
import { CACHE, runTypeScript, typeScriptProgram } from "./clients/typescript.ts";

// ER-22
test("a generated TypeScript client compiles strictly, without casts, and works", async () => {
  await mkdir(CACHE, { recursive: true });
  await using services = await startClientServices(CACHE);
  const program = await typeScriptProgram("client");
  expect(program).not.toMatch(/\bas (?!AuditPaths|IdentityPaths|RegistryPaths)|\bany\b|[\w)\]]!\W/);
  const answer = await runTypeScript(program, SERVICES, { cwd: services.folder, env: services.env });
  expect(answer).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(answer.stdout)).toEqual(EXPECTED);
}, 120_000);
