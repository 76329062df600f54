/**
 * Tests the edge description of a platform with all catalogs, and a client that is generated from it. The client
 * takes the tour through a real gateway.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { lintFindings } from "../../support/http/description-lint.ts";
import { DocumentValidator, type OpenApiDocument, operationsIn } from "../../support/http/openapi.ts";
import { type Stack, startStack } from "../../support/processes/stack.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { CACHE, runTypeScript, typeScriptProgram } from "./clients/typescript.ts";

setDefaultTimeout(180_000);

let stack: Stack;
let document: OpenApiDocument;

beforeAll(async () => {
  stack = await startStack();
  document = await waitFor(readDocument, {
    timeoutMs: 60_000,
    what: "an edge description with every service's texts",
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
  expect(names).toContain("AuditStreamList");
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
  let checked = 0;
  for (const { operationId, responses } of operationsIn(document)) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      const { schema, examples = {} } = content["application/json"] ?? { schema: {} };
      for (const [code, { value }] of Object.entries(examples)) {
        const problems = validator.problems(schema, value);
        expect({ operationId, status, code, problems }).toEqual({ operationId, status, code, problems: [] });
        checked += 1;
      }
    }
  }
  expect(checked).toBeGreaterThan(100);
});

test("a generated TypeScript client compiles strictly, without casts, and takes the tour", async () => {
  await mkdir(CACHE, { recursive: true });
  const cwd = temporaryFolder("edge", CACHE);
  await Bun.write(join(cwd, "edge.json"), JSON.stringify(document));
  const TOKEN = await (await fetch(`${stack.identityProviderUrl}/token?subject=typescript`)).text();
  const program = await typeScriptProgram("edge");
  expect(program).not.toMatch(/\bas\s|\bany\b|[\w)\]]!\W/);
  const answer = await runTypeScript(program, ["edge"], { cwd, env: { API_URL: stack.gateway.url, TOKEN } });
  expect(answer).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(answer.stdout)).toEqual({
    user: "active",
    organization: "Acme",
    echoed: "/organizations/ID/things/42?color=red",
    labels: ["things:write"],
    bursts: [200, 200, 200, 429],
    stranger: "UNAUTHORIZED",
    renamed: "Acme & Daughters",
    newest: { route: "/org", method: "PATCH" },
    missing: "member",
    remaining: ["2", "1", "0", "0"],
    retry_after: "number",
    hello: 200,
    wrong: "name",
    events: 5,
  });
});
