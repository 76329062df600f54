import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunOptions, runCli, runCliOnTerminal } from "./cli-run.ts";
import { type Registry, service, startRegistry } from "./harness.ts";

/** The command line where it is used wrongly, meets something else than a registry, or has a terminal. */

const ESCAPE = "\u001b";

let registry: Registry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());

const cli = (parameters: string[], options?: RunOptions) => runCli(registry.url, parameters, options);
const onTerminal = (parameters: string[], env?: Record<string, string>) =>
  runCliOnTerminal(registry.url, parameters, env);

describe("wrong usage", () => {
  test.each([
    [[]],
    [["unknown"]],
    [["apply"]],
    [["apply", "a.yaml", "b.yaml"]],
    [["apply", "--dryrun", "a.yaml"]],
    [["revisions"]],
    [["restore", "a"]],
    [["explain", "GET"]],
    [["services", "--colour"]],
  ])("%j has exit code 2 and says why on stderr", async (parameters) => {
    const run = await cli(parameters);
    expect(run).toMatchObject({ exit_code: 2, stdout: "" });
    expect(run.stderr).not.toBe("");
  });

  test.each([
    [{ ADMIN_TOKEN: "" }, "Set ADMIN_TOKEN"],
    [{ REGISTRY_URL: "localhost:5002" }, "REGISTRY_URL must be"],
    [{ REGISTRY_URL: "ftp://localhost" }, "REGISTRY_URL must be"],
    [{ REGISTRY_URL: "http://localhost:99999" }, "REGISTRY_URL must be"],
  ])("in the environment, %j, has exit code 2", async (env, message) => {
    const run = await cli(["services"], { env });
    expect(run).toMatchObject({ exit_code: 2, stdout: "" });
    expect(run.stderr).toContain(message);
  });

  test.each([
    [
      ["--help"],
      ["apply", "diff", "services", "revisions", "restore", "explain", "REGISTRY_URL", "Exit codes"],
    ],
    [
      ["apply", "--help"],
      ["--dry-run", "--json", "$ bun cli apply routes.yaml"],
    ],
    [["diff", "--help"], ["$ bun cli diff widgets 3 5"]],
    [
      ["help", "restore"],
      ["--if-revision", "$ bun cli restore widgets 3"],
    ],
    [["explain", "-h"], ["$ bun cli explain GET /org/widgets/42"]],
  ])("is what %j helps against: exit code 0, with examples", async (parameters, parts) => {
    const run = await cli(parameters, { env: { ADMIN_TOKEN: "" } });
    expect(run).toMatchObject({ exit_code: 0, stderr: "" });
    for (const part of parts) expect(run.stdout).toContain(part);
  });
});

describe("a registry that does not answer as one", () => {
  test("because it is not there, is told with its address", async () => {
    const run = await cli(["services"], { env: { REGISTRY_URL: "http://127.0.0.1:1" } });
    expect(run).toEqual({
      exit_code: 1,
      stdout: "",
      stderr:
        "The registry at http://127.0.0.1:1 can not be reached (ECONNREFUSED): is it running, and is REGISTRY_URL its address?\n",
    });
  });

  test("because the token is wrong, is told without the token", async () => {
    const run = await cli(["services"], { env: { ADMIN_TOKEN: "some-other-token" } });
    expect(run).toEqual({ exit_code: 1, stdout: "", stderr: "The registry does not accept ADMIN_TOKEN.\n" });
  });

  test.each([
    ["a page", () => new Response("<html>", { headers: { "Content-Type": "text/html" } })],
    ["another JSON", () => Response.json({ ok: true })],
    ["a strange error", () => Response.json({ error: "no" }, { status: 500 })],
    ["a redirect", () => Response.redirect("http://127.0.0.1:1/")],
  ])("because it is something else that answers with %s, is told", async (_, answer) => {
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
    const run = await cli(["services"], { env: { REGISTRY_URL: `http://127.0.0.1:${other.port}/` } });
    expect(run).toMatchObject({ exit_code: 1, stdout: "" });
    expect(run.stderr).toContain("no answer of a route registry");
    await other.stop(true);
  });

  test("can not steer the terminal through what it says", async () => {
    const message = `${ESCAPE}[2J${ESCAPE}]0;title\u0007 hello\u0009there`;
    const other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        Response.json(
          { error: { type: "api_error", code: "X", message, request_id: "1", details: null } },
          { status: 500 },
        ),
    });
    const run = await cli(["services"], { env: { REGISTRY_URL: `http://127.0.0.1:${other.port}` } });
    expect(run.stderr).toBe("\ufffd[2J\ufffd]0;title\ufffd hello\tthere\n");
    await other.stop(true);
  });
});

describe("colours", () => {
  test.skipIf(Bun.which("script") === null)(
    "are shown on a terminal only, and not with NO_COLOR",
    async () => {
      await registry.put("painted", service("/painted/1"));
      await registry.put("painted", service("/painted/2"));
      const plain = await cli(["diff", "painted"]);
      expect(plain.stdout).not.toContain(ESCAPE);
      expect((await cli(["services"])).stdout).not.toContain(ESCAPE);
      const shown = await onTerminal(["diff", "painted"]);
      expect(shown).toContain(`${ESCAPE}[32m+ GET /painted/2 (user)`);
      expect(shown).toContain(`${ESCAPE}[31m- GET /painted/1 (user)`);
      expect(await onTerminal(["services"])).toContain(`${ESCAPE}[1mSERVICE`);
      expect(await onTerminal(["services"], { NO_COLOR: "1" })).not.toContain(ESCAPE);
      expect(await onTerminal(["services", "--json"])).not.toContain(ESCAPE);
    },
  );
});
