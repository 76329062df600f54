import { describe, expect, test } from "bun:test";
import { useCli } from "./bed.ts";

const { registry, cli, cliProcess, file } = useCli();

const ALL = "openapi: 3.1.0\npaths:\n  /all/{id}:\n    get: {summary: Get all of it}\n";
const SOME = `${ALL}  /Some:\n    get: {}\n`;
const TO = ["--service", "described", "--url", "http://described:8080"];

// RG-168, RG-169
describe("ostiary from-openapi", () => {
  test("prints a document that a registry takes, and exits with 0", async () => {
    const run = await cli(["from-openapi", await file("all.yaml", ALL), ...TO]);
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).toContain("            # Get all of it\n            GET: {}\n");
    const applied = await cli(["apply", "-"], { input: run.stdout });
    expect(applied.exitCode).toBe(0);
    const { body } = await registry.call("GET", "/services/described");
    expect(body.organization.routes).toEqual([{ path: "/all/{id}", methods: ["GET"] }]);
  });

  test("exits with 1 and prints the document when something is not expressed", async () => {
    const run = await cliProcess(["from-openapi", "-", ...TO, "--scope", "member"], { input: SOME });
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toMatch(
      / {4}member:\n {6}routes:\n {8}- path: \/all\/\{id\}[\s\S]*# Not expressed: GET \/Some\./,
    );
    expect(run.stderr).toBe(
      '1 problem in 2 operations: search the document for "Not expressed", and edit it.\n',
    );
  });

  test("prints the document as JSON with --json", async () => {
    const run = await cli(["--json", "from-openapi", await file("all.yaml", ALL), ...TO]);
    expect(JSON.parse(run.stdout)).toEqual({
      services: {
        described: {
          url: "http://described:8080",
          organization: { routes: [{ path: "/all/{id}", methods: { GET: {} } }] },
        },
      },
    });
  });

  test.each<[string, string, string[], number, RegExp]>([
    ["a wrong url", ALL, ["--service", "a", "--url", "https://a"], 2, /TLS upstreams are unsupported/],
    ["a wrong name", ALL, ["--service", "a b", "--url", "http://a:1"], 2, /A service's name must have/],
    ["a wrong prefix", ALL, [...TO, "--prefix", "/Org"], 2, /canonical form is `\/org`/],
    ["a prefix with a param of the owner", ALL, [...TO, "--prefix", "/{organization_id}"], 2, /caller's id/],
    ["an unknown scope", ALL, [...TO, "--scope", "all"], 2, /Allowed choices are public, user/],
    ["no service", ALL, ["--url", "http://a:1"], 2, /--service/],
    ["no url", ALL, ["--service", "a"], 2, /--url/],
    ["Swagger 2.0", 'swagger: "2.0"\npaths: {}\n', TO, 1, /is a description of Swagger 2\.0: convert it/],
  ])("refuses %s, and prints no document", async (_, description, parameters, exitCode, message) => {
    const run = await cli(["from-openapi", await file("wrong.yaml", description), ...parameters]);
    expect(run).toMatchObject({ exitCode, stdout: "" });
    expect(run.stderr).toMatch(message);
  });

  test("names a file that does not exist", async () => {
    const run = await cli(["from-openapi", "/nowhere/openapi.yaml", ...TO]);
    expect(run).toMatchObject({ exitCode: 2, stdout: "", stderr: "/nowhere/openapi.yaml does not exist.\n" });
  });
});
