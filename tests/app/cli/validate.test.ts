import { describe, expect, test } from "bun:test";
import { fields, service } from "../registry/bed.ts";
import { useCli } from "./bed.ts";

const { registry, cli, cliProcess, file, document, directory } = useCli();

/** Environment variables with the URL of a registry that does not exist. */
const env = { REGISTRY_URL: "http://127.0.0.1:1", ADMIN_TOKEN: "" };

const BAD = `services:
  widgets:
    url: https://widgets:1
    user:
      routes:
        - path: /Widgets
          methods: [GET, GET]
`;

interface Problem {
  file: string;
  line: number | null;
  column: number | null;
  rule: string;
  path: string;
  message: string;
}

async function problemsIn(...files: string[]): Promise<Problem[]> {
  const { stdout } = await cli(["validate", ...files, "--format", "json"], { env });
  return JSON.parse(stdout).problems;
}

describe("ostiary validate", () => {
  // RG-140, RG-143
  test("accepts valid documents without a registry, and counts files and services", async () => {
    const one = await document("good-one.yaml", { a: service("/a") });
    const two = await document("good-two.json", { b: service("/b"), c: service("/c") });
    const run = await cli(["validate", one, two, one], { env });
    expect(run).toEqual({ exitCode: 0, stdout: "No problem in 2 files with 3 services.\n", stderr: "" });
  });

  // RG-142, RG-143, RG-144
  test("names file, line and column of each problem, and exits with 1", async () => {
    const path = await file("bad.yaml", BAD);
    const { exitCode, stdout, stderr } = await cli(["validate", path], { env });
    expect(stdout.split("\n")).toEqual([
      `${path}:3:5: services.widgets.url: TLS upstreams are unsupported: write the url as \`http://host:port\`.`,
      `${path}:6:11: services.widgets.user.routes[0].path: The full path \`/Widgets\` is not canonical: the canonical form is \`/widgets\`.`,
      `${path}:7:26: services.widgets.user.routes[0].methods[1]: GET is listed twice.`,
      "",
    ]);
    expect([exitCode, stderr]).toEqual([1, "3 problems in 1 file.\n"]);
  });

  // RG-140
  test.each([
    ["a wrong url", BAD],
    ["no services", "other: 1"],
    ["a list", "- 1"],
    ["nothing", " "],
    ["broken YAML", "services:\n  a: [\n"],
    ["a repeated key", "services: {}\nservices: {}\n"],
    ["deep nesting", "[".repeat(80)],
    ["an unknown field", JSON.stringify({ services: { a: { ...service("/a"), extra: 1 } } })],
  ])("reports a document with %s in the words of apply", async (_, text) => {
    const path = await file("same.yaml", text);
    const refused = await registry.call("POST", "/apply", text, { "Content-Type": "application/yaml" });
    const spoken = ({ path, message }: { path: string; message: string }) =>
      `${path} ${message.replace(/ at line \d+, column \d+/, "").replace("The body", "The file")}`;
    const found = await problemsIn(path);
    expect(found.map(spoken).toSorted()).toEqual(fields(refused).map(spoken).toSorted());
    expect(found.length).toBeGreaterThan(0);
  });

  // RG-141
  test("finds conflicts between files", async () => {
    const shared = (requests: number) => ({
      rate_limits: { s: { requests, window_seconds: 1, shared: true } },
    });
    const twice = service("/t");
    const first = await document("first.yaml", { a: { ...service("/a/{x}"), ...shared(1) }, twice });
    const second = await document("second.yaml", { b: { ...service("/b", "/a/{y}"), ...shared(2) }, twice });
    const found = await problemsIn(first, second);
    expect(found.map(({ file, rule, path }) => [file, rule, path])).toEqual([
      [second, "route-conflict", expect.stringMatching(/^services\.b\.\w+\.routes\[1\]\.path$/)],
      [second, "policy-conflict", "services.b.rate_limits.s"],
      [second, "repeated-service", "services.twice"],
    ]);
    expect(found.map(({ message }) => message)).toEqual([
      "GET /a/{y} belongs to service a as /a/{x}.",
      expect.stringContaining("in service a"),
      `The service \`twice\` is also in ${first}: keep the service in one document.`,
    ]);
  });

  // RG-143
  test.each([
    ["a file that does not exist", ["nowhere.yaml"], "nowhere.yaml does not exist."],
    ["a directory", ["seeds"], "seeds is a directory: name one of its files."],
    ["no file", [], "missing required argument"],
    [
      "an unknown format",
      ["seeds/demo.yaml", "--format", "xml"],
      "Allowed choices are text, json, sarif, github.",
    ],
    ["two formats", ["--json", "seeds/demo.yaml", "--format", "sarif"], "cannot be given together"],
  ])("exits with 2 for %s, and writes no report", async (_, parameters, message) => {
    const run = await cli(["validate", ...parameters], { env });
    expect([run.exitCode, run.stdout]).toEqual([2, ""]);
    expect(run.stderr).toContain(message);
  });

  // RG-144
  test("writes SARIF 2.1.0 with paths relative to the repository", async () => {
    await file("bad file.yaml", BAD);
    const parameters = ["validate", "./bad file.yaml", "--format", "sarif"];
    const { exitCode, stdout } = await cliProcess(parameters, { cwd: directory() });
    const log = JSON.parse(stdout);
    expect(exitCode).toBe(1);
    expect([log.version, log.runs.length]).toEqual(["2.1.0", 1]);
    const [{ tool, results, artifacts }] = log.runs;
    expect(artifacts).toEqual([{ location: { uri: "bad%20file.yaml" } }]);
    for (const { ruleId, ruleIndex, level, message } of results) {
      expect([tool.driver.rules[ruleIndex].id, level]).toEqual([ruleId, "error"]);
      expect(message.text).not.toBe("");
    }
    expect(results[0].locations).toEqual([
      {
        physicalLocation: {
          artifactLocation: { uri: "bad%20file.yaml" },
          region: { startLine: 3, startColumn: 5 },
        },
        logicalLocations: [{ fullyQualifiedName: "services.widgets.url" }],
      },
    ]);
  });

  // RG-144
  test("annotates a pull request, and escapes workflow commands in keys of a document", async () => {
    const path = await file("a,b.yaml", JSON.stringify({ services: { "x\n::warning::y%": 1 } }));
    const { stdout } = await cli(["validate", path, "--format", "github"], { env });
    const lines = stdout.trimEnd().split("\n");
    expect(lines.every((line) => line.startsWith("::error file="))).toBe(true);
    expect(stdout).toContain("a%2Cb.yaml,line=1,");
    expect(stdout).toContain("x%0A::warning::y%25");
  });

  // RG-150
  test("runs route tests against the routes of all files, and names the line of a failing test", async () => {
    const tests = [{ name: "the route of b", method: "GET", path: "/b/1", expect: { service: "b" } }];
    const a = await document("tests-a.yaml", { a: service("/a") }, { tests });
    const b = await document("tests-b.yaml", { b: service("/b/{id}") });
    const passed = await cli(["validate", a, b], { env });
    expect(passed.stdout).toBe("No problem in 2 files with 2 services and 1 test.\n");
    const [problem] = await problemsIn(a);
    expect(problem).toEqual({
      file: a,
      line: expect.any(Number),
      column: 5,
      rule: "route-test",
      path: "tests[0]",
      message: "The test `the route of b` of GET /b/1 fails: no route serves the request.",
    });
  });

  // RG-150
  test("knows only the roles of the file in --roles", async () => {
    const asked = { name: "t", method: "GET", path: "/a", role: "admin", expect: { allowed: true } };
    const path = await document("roles.yaml", { a: service("/a") }, { tests: [asked] });
    const [problem] = await problemsIn(path);
    expect(problem?.message).toContain("the role admin is unknown without a roles file");
    const known = await cli(["validate", path, "--roles", "seeds/roles.yaml"], { env });
    expect(known.exitCode).toBe(0);
    const wrong = await cli(["validate", path, "--roles", path], { env });
    expect([wrong.exitCode, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr).toStartWith("--roles ");
  });
});
