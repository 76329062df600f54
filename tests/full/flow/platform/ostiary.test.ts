/** Tests of the command line `ostiary`, which contains all services and all commands of an operator. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { startProcess } from "../../../support/processes/start-process.ts";
import { freshDatabase } from "../../../support/stores/services.ts";

setDefaultTimeout(60_000);

const ENTRY = "apps/platform/ostiary.ts";
const TOKEN = "a-token-of-twenty-characters";

function ostiary(parameters: string[], env: Record<string, string> = {}) {
  const { PATH, HOME } = process.env;
  return runToEnd([process.execPath, ENTRY, ...parameters], { env: { PATH, HOME, ...env } });
}

const PROGRAMS = ["start", "gateway", "registry", "identity", "audit", "portal", "demo"];
const COMMANDS = [
  "apply",
  "diff",
  "services",
  "export",
  "delete",
  "revisions",
  "restore",
  "explain",
  "gateways",
];

describe("ostiary --help", () => {
  test("lists every service and every command", async () => {
    const { exitCode, stdout, stderr } = await ostiary(["--help"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    for (const name of [...PROGRAMS, ...COMMANDS])
      expect(stdout).toMatch(new RegExp(`^  ${name} .*\\w`, "m"));
    expect(stdout).not.toContain("bun");
  });

  // OP-135
  test.each(PROGRAMS)("prints the help of %s", async (name) => {
    const { exitCode, stdout } = await ostiary([name, "--help"]);
    expect(exitCode).toBe(0);
    expect(stdout).toStartWith(`Usage: ostiary ${name} `);
    expect(stdout).toMatch(/^ {2}HOST \(\S+\)\n {6}\S/m);
    expect(stdout).toContain(`\nThe README is apps/${name === "start" ? "platform" : name}/README.md.\n`);
  });
});

describe("ostiary", () => {
  test("prints the product's version with --version, also after the name of a service", async () => {
    const { version } = await Bun.file("package.json").json();
    const told = { exitCode: 0, stdout: `${version}\n`, stderr: "" };
    expect(await ostiary(["--version"])).toEqual(told);
    expect(await ostiary(["gateway", "--version"])).toEqual(told);
  });

  test.each([
    [["gatway"], "unknown command 'gatway'"],
    [["gatway"], "Did you mean gateway?"],
    [["gateway", "registry"], "too many arguments for 'gateway'"],
    [["registry", "--port", "1"], "unknown option '--port'"],
    [["audit", "verfy"], "too many arguments for 'audit'"],
    [["audit", "verify"], "missing required argument 'file'"],
    [["start", "--fresh", "now"], "too many arguments for 'start'"],
    [["apply"], "missing required argument 'file'"],
    [[""], "unknown command ''"],
  ])("exits with 2 for the wrong arguments %j: %s", async (parameters, message) => {
    const run = await ostiary(parameters);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toContain(message);
  });

  test.each([
    ["gateway", ["COUNTER_STORE_URL", "CREDENTIAL_VALIDATE_URL", "AUDIT_URL"]],
    ["registry", ["DATABASE_URL", "ADMIN_TOKEN"]],
    ["identity", ["DATABASE_URL"]],
    ["audit", ["DATABASE_URL"]],
  ])("%s names every missing environment variable", async (name, variables) => {
    const { exitCode, stderr } = await ostiary([name]);
    expect(exitCode).toBe(78);
    for (const variable of variables) expect(stderr).toContain(`  ${variable} is required`);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("runs a service that exits with 0 at %s", async (signal) => {
    const identity = await startProcess([ENTRY, "identity"], { DATABASE_URL: await freshDatabase() });
    expect((await fetch(`${identity.internalUrl}/health/ready`)).status).toBe(200);
    expect(await identity.stop(signal)).toBe(0);
    expect(identity.stderr).toEqual([]);
  });

  test("runs a registry and a command that calls it", async () => {
    const env = {
      DATABASE_URL: await freshDatabase(),
      ADMIN_TOKEN: TOKEN,
      ROUTE_STORE_URL: "http://127.0.0.1:1",
    };
    const registry = await startProcess([ENTRY, "registry"], env);
    const asked = { ADMIN_TOKEN: TOKEN, REGISTRY_URL: registry.url };
    expect(await ostiary(["services", "--json"], asked)).toMatchObject({ exitCode: 0, stderr: "" });
    const refused = await ostiary(["services"], { ...asked, ADMIN_TOKEN: `${TOKEN}x` });
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr:
        "The registry does not accept ADMIN_TOKEN: set it to the token that the registry was started with.\n",
    });
    expect(await registry.stop()).toBe(0);
  });
});
