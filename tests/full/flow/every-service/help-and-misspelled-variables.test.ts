/** Tests of `--help`, of unknown arguments and of misspelled variables, as processes. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { rejection } from "../../../support/index.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { startProcess } from "../../../support/processes/start-process.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { startPlatform } from "../platform/bed.ts";

setDefaultTimeout(120_000);

const SECRET = "a-value-that-nobody-may-see";
const folder = temporaryFolder("help");

function run(app: string, parameters: string[], env: Record<string, string> = {}) {
  const { PATH, HOME } = process.env;
  const command = [process.execPath, `apps/${app}/main.ts`, ...parameters];
  return runToEnd(command, { env: { PATH, HOME, ...env } });
}

describe("--help", () => {
  // OP-135
  test("of a service prints its help and opens neither a store nor a port", async () => {
    const untouched = temporaryFolder("help-of-audit");
    const DATABASE_URL = `pglite://${join(untouched, "database")}`;
    const { exitCode, stdout, stderr } = await run("audit", ["--help"], { DATABASE_URL, PORT: "0" });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toStartWith("Usage: bun apps/audit/main.ts [--help]\n");
    expect(stdout).toEndWith("The README is apps/audit/README.md.\n");
    expect(await readdir(untouched)).toEqual([]);
  });

  // OP-135
  test("of the portal reports no error when its reader exits first", async () => {
    const command = `${process.execPath} apps/portal/main.ts -h | true; echo "codes \${PIPESTATUS[*]}"`;
    expect(await runToEnd(["bash", "-c", command])).toMatchObject({ stdout: "codes 0 0\n", stderr: "" });
  });
});

// OP-135
test("an unknown argument of a service is named, with exit code 2", async () => {
  const { exitCode, stdout, stderr } = await run("portal", ["--prot=1"]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toStartWith('Unknown argument "--prot=1": ');
});

describe("a misspelled variable", () => {
  const hint = (name: string, meant: string) =>
    `${name} is not a variable of this service: did you mean ${meant}?`;

  // OP-134, OP-6
  test("is one warning in the log of a service", async () => {
    const env = { DATABASE_URL: "pglite://memory", INTERNAL_AUTH_TOKN: SECRET };
    const audit = await startProcess("apps/audit/main.ts", env);
    atTestEnd(() => audit.kill());
    const message = hint("INTERNAL_AUTH_TOKN", "INTERNAL_AUTH_TOKEN");
    const found = () => audit.logs().filter((line) => line.message === message);
    await waitFor(() => found().length > 0);
    expect(found()).toMatchObject([{ level: "warn", service: "audit" }]);
    expect(await audit.stop()).toBe(0);
    expect(found()).toHaveLength(1);
    expect(audit.stdout.join("\n")).not.toContain(SECRET);
  });

  // OP-134
  test("is one warning in the log of the platform", async () => {
    const platform = await startPlatform({ DATA_DIR: join(folder, "data"), AUDIT_ENABELD: "false" });
    atTestEnd(() => platform.kill());
    const message = hint("AUDIT_ENABELD", "AUDIT_ENABLED");
    const found = () => platform.logs().filter((line) => line.message === message);
    await waitFor(() => found().length > 0, { timeoutMs: 60_000 });
    await platform.stop();
    expect(found()).toHaveLength(1);
  });

  // OP-134, OP-6
  test("is named beside the variable that is missing", async () => {
    const failure = await rejection(startProcess("apps/identity/main.ts", { DATABSE_URL: SECRET }));
    expect(failure).toMatchObject({ exitCode: 78 });
    expect(failure).toMatchObject({
      stderr: [
        "The configuration is not valid:",
        expect.stringMatching(/^ {2}DATABASE_URL is required/),
        hint("DATABSE_URL", "DATABASE_URL"),
      ],
    });
    expect(String(failure)).not.toContain(SECRET);
  });
});
