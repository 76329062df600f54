/** Tests of the command line as a process: its output, its terminal and Ctrl-C. */
import { beforeAll, describe, expect, test } from "bun:test";
import { atTerminal, environmentOf, NAME } from "../../../app/cli/bed.ts";
import { service, useRegistry } from "../../../app/registry/bed.ts";
import { commandOf, sourceOf } from "../../../support/processes/command-of.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

const registry = useRegistry();
beforeAll(async () => {
  await registry.put("shown", service("/shown"));
});

/**
 * Runs a bash pipeline in which `$CLI` is the command line. Its output ends with the exit code of each
 * command.
 */
async function bash(line: string) {
  const env = { ...environmentOf(registry.url), CLI: commandOf("apps/cli/main.ts").join(" ") };
  const script = `${line}; echo "codes \${PIPESTATUS[*]}"`;
  const { stdout, stderr } = await runToEnd(["bash", "-c", script], { env });
  return { stdout, stderr };
}

test("no error is reported when the reader of the output exits first, or when the output is closed", async () => {
  expect(await bash("$CLI services 2>&1 | true")).toEqual({ stdout: "codes 0 0\n", stderr: "" });
  expect(await bash("$CLI nosuch 2>&1 | true")).toEqual({ stdout: "codes 2 0\n", stderr: "" });
  expect(await bash("$CLI services >&-")).toEqual({ stdout: "codes 0\n", stderr: "" });
  expect(await bash("$CLI nosuch 2>&-")).toEqual({ stdout: "codes 2\n", stderr: "" });
});

test.skipIf(process.platform !== "linux")("a full disk causes exit code 1", async () => {
  expect(await bash("$CLI services >/dev/full")).toEqual({
    stdout: "codes 1\n",
    stderr: "The output cannot be written (ENOSPC).\n",
  });
  expect((await bash("$CLI nosuch 2>/dev/full")).stdout).toBe("codes 2\n");
});

test("the output of `bun cli` contains nothing of the runner", async () => {
  const env = environmentOf(registry.url);
  for (const parameters of [["services"], ["nosuch"]]) {
    const run = await runToEnd([process.execPath, "cli", ...parameters], { env });
    expect(run).toEqual(await runToEnd([...sourceOf("apps/cli/main.ts"), ...parameters], { env }));
  }
});

test("a terminal gets colors", async () => {
  const at = async (parameters: string[], env: Record<string, string>) =>
    (await atTerminal(registry.url, parameters, async () => {}, env)).shown;
  expect(await at(["services"], {})).toContain("\u001b[1mSERVICE");
  expect(await at(["services"], { NO_COLOR: "1" })).not.toContain("\u001b");
});

test("a terminal asks for a confirmation, and reads the line that is typed", async () => {
  await registry.put("unwanted", service("/unwanted"));
  const confirmed = (line: string) =>
    atTerminal(registry.url, ["delete", "unwanted"], async (type, shown) => {
      await waitFor(() => shown().includes("[y/N] "), { what: "the question in the terminal" });
      type(line);
    });
  expect((await confirmed("\u0004")).shown).toContain("Nothing was deleted.");
  const stopped = await confirmed("\u0003");
  expect(stopped.exitCode).toBe(130);
  expect(stopped.shown).not.toContain("may still have taken effect");
  expect((await confirmed("y\r")).exitCode).toBe(0);
});

describe("Ctrl-C", () => {
  /** Types Ctrl-C while the command waits for a server that never responds. */
  async function interrupted(parameters: string[]): Promise<{ exitCode: number; shown: string }> {
    let asked = false;
    const silent = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: () => {
        asked = true;
        return new Promise<Response>(() => {});
      },
    });
    try {
      return await atTerminal(`http://127.0.0.1:${silent.port}`, parameters, async (type) => {
        await waitFor(() => asked, { what: "the request" });
        type("\u0003");
      });
    } finally {
      await silent.stop(true);
    }
  }

  test("ends a reading command without a message", async () => {
    expect(await interrupted(["services"])).toEqual({ exitCode: 130, shown: "^C" });
  });

  test("ends a write, and says that it may have taken effect", async () => {
    const { exitCode, shown } = await interrupted(["restore", "shown", "1"]);
    expect(exitCode).toBe(130);
    expect(shown).toContain(`The command may still have taken effect: check with ${NAME} services.\n`);
  });
});
