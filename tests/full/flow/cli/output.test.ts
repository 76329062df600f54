/** Tests of the command line's output when its reader leaves, for each locale, and at Ctrl-C. */
import { beforeAll, describe, expect, test } from "bun:test";
import { useRegistry } from "../../../app/registry/bed.ts";
import { service } from "../../../app/registry/harness.ts";
import { commandOf, sourceOf } from "../../../support/processes/command-of.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { atTerminal, environmentOf, NAME } from "./bed.ts";

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

describe("the output", () => {
  test.each(["--help", "services", "services --json", "nosuch"])(
    "of %s causes no error when its reader exits first",
    async (parameters) => {
      const code = parameters === "nosuch" ? 2 : 0;
      expect(await bash(`$CLI ${parameters} 2>&1 | true`)).toEqual({
        stdout: `codes ${code} 0\n`,
        stderr: "",
      });
    },
  );

  test("causes no error when the stream is closed", async () => {
    expect(await bash("$CLI services >&-")).toEqual({ stdout: "codes 0\n", stderr: "" });
    expect(await bash("$CLI nosuch 2>&-")).toEqual({ stdout: "codes 2\n", stderr: "" });
  });

  test.skipIf(process.platform !== "linux")("causes exit code 1 when the disk is full", async () => {
    expect(await bash("$CLI services >/dev/full")).toEqual({
      stdout: "codes 1\n",
      stderr: "The output cannot be written (ENOSPC).\n",
    });
    expect((await bash("$CLI nosuch 2>/dev/full")).stdout).toBe("codes 2\n");
  });

  test.each([
    [["--help"], 0],
    [["services"], 0],
    [["nosuch"], 2],
  ])("of `bun cli` %j contains nothing of the runner", async (parameters, exitCode) => {
    const command = [process.execPath, "cli", ...parameters];
    const env = environmentOf(registry.url);
    const run = await runToEnd(command, { env });
    expect(run).toEqual(await runToEnd([...sourceOf("apps/cli/main.ts"), ...parameters], { env }));
    expect(run.exitCode).toBe(exitCode);
  });
});

describe("a terminal", () => {
  const shown = async (env: Record<string, string>) =>
    (await atTerminal(registry.url, ["services", "café"], async () => {}, env)).shown;

  test.each<Record<string, string>>([
    {},
    { LANG: "de_DE.UTF-8" },
    { LANG: "C", LC_ALL: "C.utf8" },
    { LANG: "" },
  ])("with a UTF-8 locale (%j) gets all characters", async (env) =>
    expect(await shown(env)).toBe("There is no service café.\n"),
  );

  test.each<Record<string, string>>([
    { LANG: "C" },
    { LANG: "de_DE.UTF-8", LC_ALL: "POSIX" },
    { LC_CTYPE: "fr_FR.ISO-8859-1" },
  ])("with another locale (%j) gets only ASCII", async (env) =>
    expect(await shown(env)).toBe("There is no service caf\\u{e9}.\n"),
  );
});

describe("Ctrl-C", () => {
  /** Types Ctrl-C while the command waits for a server that never answers. */
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

  test("ends a delete, and says that it may have taken effect", async () => {
    const { exitCode, shown } = await interrupted(["delete", "shown", "--yes"]);
    expect(exitCode).toBe(130);
    expect(shown).toContain("The command may still have taken effect");
  });

  test("ends a write, and says that it may have taken effect", async () => {
    const { exitCode, shown } = await interrupted(["restore", "shown", "1"]);
    expect(exitCode).toBe(130);
    expect(shown).toContain(`The command may still have taken effect: check with ${NAME} services.\n`);
  });
});
