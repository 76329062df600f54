/**
 * Tests the edge description of a platform with all catalogs, and clients that are generated from it. The
 * clients take the tour through a real gateway. The Python and Go clients are skipped if their generators are
 * not installed.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { lintFindings } from "../support/description-lint.ts";
import { DocumentValidator, type OpenApiDocument, operationsIn } from "../support/openapi.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { waitFor } from "../support/wait-for.ts";
import { GO_MODULE, goSettings } from "./clients/go.ts";
import { run } from "./clients/services.ts";

setDefaultTimeout(180_000);

const ROOT = join(import.meta.dir, "../..");
/** A folder in the tests' node_modules: imports of generated code resolve there, and git ignores it. */
const CACHE = join(ROOT, "tests/node_modules/.cache");
const GENERATOR = join(ROOT, "tests/node_modules/openapi-typescript/bin/cli.js");
const COMPILER = join(ROOT, "node_modules/typescript/bin/tsc");
const CLIENTS = join(import.meta.dir, "clients");
/**
 * The source of a program that uses the generated client. It is not a `.ts` file, because its imports do not
 * exist.
 */
const program = await Bun.file(join(CLIENTS, "edge.ts.txt")).text();

let stack: Stack;
let document: OpenApiDocument;

beforeAll(async () => {
  stack = await startStack();
  document = await waitFor(readDocument, {
    timeoutMs: 60_000,
    what: "An edge description with every service's texts",
  });
});
afterAll(() => stack.close());

/** Returns the edge description, or null if the registry has not yet fetched every service's description. */
async function readDocument(): Promise<OpenApiDocument | null> {
  const headers = { Authorization: `Bearer ${stack.adminToken}` };
  const made = JSON.parse(await (await fetch(`${stack.registry.url}/edge/openapi.json`, { headers })).text());
  const states: { status: string }[] = made["x-service-documents"];
  return states.length === 3 && states.every(({ status }) => status === "current") ? made : null;
}

test("the edge description passes a linter, except for the license, which the operator sets", async () => {
  const findings = await lintFindings(JSON.stringify(document));
  expect(findings.filter((finding) => !finding.startsWith("info-license"))).toEqual([]);
});

test("no schema name begins with the service's name twice", () => {
  const names = Object.keys(document.components.schemas);
  expect(names.filter((name) => /^([A-Z][a-z]+)\1/.test(name))).toEqual([]);
  expect(names).toContain("AuditCheckpointList");
});

test("every operation has the texts of its service, and no path parameter for the owner's id", () => {
  const operations = operationsIn(document);
  const published = operations.map(({ method, path }) => `${method} ${path}`);
  expect(published).toEqual(
    expect.arrayContaining(["GET /user", "PATCH /org", "DELETE /member", "GET /org/audit-events"]),
  );
  for (const { method, path, summary, parameters = [] } of operations) {
    expect(summary).not.toBe(`${method} ${path}`);
    const params = parameters.filter((each) => each.in === "path").map(({ name }) => name);
    expect(params).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name));
  }
});

test("every example of an error response fits its schema", () => {
  const validator = new DocumentValidator(document);
  for (const { operationId, responses } of operationsIn(document)) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      const { schema, examples = {} } = content["application/json"] ?? { schema: {} };
      for (const [code, { value }] of Object.entries(examples)) {
        const problems = validator.problems(schema, value);
        expect({ operationId, status, code, problems }).toEqual({ operationId, status, code, problems: [] });
      }
    }
  }
});

/** The expected output of the program, in every language. */
const TOUR = {
  user: "active",
  organization: "Acme",
  echoed: "/organizations/ID/things/42?color=red",
  labels: ["things:write"],
  bursts: [200, 200, 200, 429],
  stranger: "UNAUTHORIZED",
  renamed: "Acme & Daughters",
  newest: { route: "/org", method: "PATCH" },
  missing: "member",
};

/**
 * Creates a temporary folder in `within` with the edge description, and runs `work` in it. Passes the
 * environment variables for the program that uses the generated client.
 */
async function generating(
  within: string,
  subject: string,
  work: (cwd: string, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  await mkdir(within, { recursive: true });
  const cwd = await mkdtemp(join(within, "ostiary-edge-"));
  try {
    await Bun.write(join(cwd, "edge.json"), JSON.stringify(document));
    const TOKEN = await (await fetch(`${stack.identityProviderUrl}/token?subject=${subject}`)).text();
    await work(cwd, { API_URL: stack.gateway.url, TOKEN });
  } finally {
    await rm(cwd, { recursive: true });
  }
}

test("a generated TypeScript client compiles strictly, without casts, and takes the tour", () =>
  generating(CACHE, "typescript", async (cwd, env) => {
    const generated = await run([process.execPath, GENERATOR, "edge.json", "--output", "edge.ts"], { cwd });
    expect(generated).toMatchObject({ code: 0 });
    await Bun.write(join(cwd, "client.ts"), program);
    const settings = {
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: { types: ["bun"] },
      include: ["*.ts"],
      // The root's tsconfig.json excludes this folder.
      exclude: [],
    };
    await Bun.write(join(cwd, "tsconfig.json"), JSON.stringify(settings));
    expect(program).not.toMatch(/\bas\s|\bany\b|[\w)\]]!\W/);
    const compiled = await run([process.execPath, COMPILER, "--noEmit", "--project", "."], { cwd });
    expect(compiled).toEqual({ code: 0, stdout: "", stderr: "" });
    const answer = await run([process.execPath, "client.ts"], { cwd, env });
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual({
      ...TOUR,
      remaining: ["2", "1", "0", "0"],
      retry_after: "number",
      hello: 200,
      wrong: "name",
      events: 5,
    });
  }));

const PYTHON = Bun.which("openapi-python-client");
const withoutPython = PYTHON === null ? " (skipped: openapi-python-client is not installed)" : "";

test.skipIf(PYTHON === null)(`a generated Python client takes the tour${withoutPython}`, () =>
  generating(tmpdir(), "python", async (cwd, env) => {
    const generator = String(PYTHON);
    const output = ["--output-path", "edge_client", "--meta", "none", "--fail-on-warning"];
    expect(await run([generator, "generate", "--path", "edge.json", ...output], { cwd })).toMatchObject({
      code: 0,
    });
    const beside = Bun.which("python3", { PATH: dirname(generator) }) ?? "python3";
    const command = [beside, join(CLIENTS, "edge.py")];
    const answer = await run(command, { cwd, env: { ...env, PYTHONPATH: cwd } });
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual(TOUR);
  }),
);

const GO = Bun.which("go") === null ? null : Bun.which("oapi-codegen");
const withoutGo = GO === null ? " (skipped: go or oapi-codegen is not installed)" : "";

test.skipIf(GO === null)(`a generated Go client compiles and takes the tour${withoutGo}`, () =>
  generating(tmpdir(), "go", async (cwd, env) => {
    await mkdir(join(cwd, "edge"));
    await Bun.write(join(cwd, "edge.yaml"), goSettings("edge"));
    await Bun.write(join(cwd, "go.mod"), GO_MODULE);
    await copyFile(join(CLIENTS, "edge.go"), join(cwd, "edge.go"));
    for (const command of [
      [String(GO), "-config", "edge.yaml", "edge.json"],
      ["go", "mod", "tidy"],
      ["go", "vet", "./..."],
    ]) {
      expect(await run(command, { cwd })).toMatchObject({ code: 0 });
    }
    const answer = await run(["go", "run", "."], { cwd, env });
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual(TOUR);
  }),
);
