/** Tests of wrong usage of the command line, of its help, and of its colors. */
import { describe, expect, test } from "bun:test";
import { service } from "../registry/bed.ts";
import { useCli } from "./bed.ts";

const ESCAPE = "\u001b";

const { registry, cli } = useCli();

describe("wrong usage", () => {
  test.each([
    [[]],
    [["unknown"]],
    [["apply", "a.yaml", "b.yaml"]],
    [["restore", "a"]],
    [["explain", "GET"]],
    [["services", "--timeout", "0"]],
    [["services", ""]],
    [["revisions", ".."]],
  ])("%j has exit code 2 and says why on stderr", async (parameters) => {
    const run = await cli(parameters);
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).not.toBe("");
  });

  test.each([
    [{ ADMIN_TOKEN: "" }, "Set ADMIN_TOKEN"],
    [{ REGISTRY_URL: "localhost:5002" }, "REGISTRY_URL must be"],
    [{ REGISTRY_URL: "http://user:secret@localhost:5002" }, "REGISTRY_URL must be"],
    [{ ADMIN_TOKEN: "two words" }, "ADMIN_TOKEN must consist of visible ASCII"],
    [{ ADMIN_TOKEN: "schlüssel" }, "ADMIN_TOKEN must consist of visible ASCII"],
  ])("of the environment %j has exit code 2", async (env, message) => {
    const run = await cli(["services"], { env });
    expect(run).toMatchObject({ exitCode: 2, stdout: "" });
    expect(run.stderr).toContain(message);
    expect(run.stderr).not.toContain("secret");
  });

  test.each([
    [["--help"], ["apply", "Exit codes", "4 undecided"]],
    [
      ["apply", "--help"],
      ["--dry-run", "--json", "$ bun cli apply routes.yaml"],
    ],
    [["explain", "-h"], ["$ bun cli explain GET /org/widgets/42"]],
  ])("is explained by %j, which has exit code 0 and shows examples", async (parameters, parts) => {
    const run = await cli(parameters, { env: { ADMIN_TOKEN: "" } });
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    for (const part of parts) expect(run.stdout).toContain(part);
  });
});

test("--version prints the version of the product", async () => {
  const { version } = await Bun.file("package.json").json();
  expect(await cli(["--version"])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
});

test("colors are shown on a terminal only, and not in JSON", async () => {
  await registry.put("painted", service("/painted/1"));
  await registry.put("painted", service("/painted/2"));
  const colored = { terminal: { colors: true } };
  expect((await cli(["diff", "painted"])).stdout).not.toContain(ESCAPE);
  expect((await cli(["services"])).stdout).not.toContain(ESCAPE);
  const { stdout } = await cli(["diff", "painted"], colored);
  expect(stdout).toContain(`${ESCAPE}[32m+ GET /painted/2 (user)`);
  expect(stdout).toContain(`${ESCAPE}[31m- GET /painted/1 (user)`);
  expect((await cli(["services"], colored)).stdout).toContain(`${ESCAPE}[1mSERVICE`);
  expect((await cli(["services", "--json"], colored)).stdout).not.toContain(ESCAPE);
});
