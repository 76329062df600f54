/** Tests of the arguments of `bun start`, and of its behavior when nobody reads its output. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { FREE_PORTS } from "./bed.ts";

setDefaultTimeout(180_000);

const parent = temporaryFolder("arguments");

/**
 * Runs a bash pipeline in which `$START` is the platform. The output ends with the exit code of each command.
 */
async function bash(line: string, DATA_DIR = join(parent, "data"), variables: Record<string, string> = {}) {
  const { stdout, stderr } = await runToEnd(["bash", "-c", `${line}; echo "codes \${PIPESTATUS[*]}"`], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: parent,
      START: `${process.execPath} apps/platform/main.ts`,
      DATA_DIR,
      ...FREE_PORTS,
      ...variables,
    },
  });
  return { stdout, stderr };
}

describe("bun start", () => {
  test.each(["--help", "-h", "--fresh --help"])("prints its help with %s", async (parameters) => {
    const { stdout, stderr } = await bash(`$START ${parameters}`);
    expect(stderr).toBe("");
    expect(stdout).toStartWith("Usage: bun start [options]\n");
    for (const part of ["--fresh", "DATA_DIR (.ostiary)", "DEMO (true)", "Exit codes:"])
      expect(stdout).toContain(part);
    expect(stdout).toEndWith("codes 0\n");
  });

  test("prints the product's version with --version", async () => {
    const { version } = await Bun.file("package.json").json();
    expect(await bash("$START --version")).toEqual({ stdout: `${version}\ncodes 0\n`, stderr: "" });
  });

  test.each([
    ["--nosuch", "unknown option '--nosuch'"],
    ["start", "too many arguments for 'start'"],
    ["apply routes.yaml", "too many arguments for 'start'"],
    ["--fresh=1", "unknown option '--fresh=1'"],
    ["-x", "unknown option '-x'"],
  ])("exits with 2 for the wrong argument %s", async (parameters, message) => {
    const { stdout, stderr } = await bash(`$START ${parameters}`);
    expect(stdout).toBe("codes 2\n");
    expect(stderr).toContain(`error: ${message}`);
  });

  test("reports no error when the reader of --help exits first", async () => {
    expect(await bash("$START --help | true")).toEqual({ stdout: "codes 0 0\n", stderr: "" });
  });

  test("shuts down cleanly when the reader of its output exits", async () => {
    const directory = join(parent, "unread");
    expect(await bash("$START | head -1", directory, { DATABASE_URL: await freshDatabase() })).toEqual({
      stdout: "Opening the stores ...\ncodes 0 0\n",
      stderr: "",
    });
    expect(await readdir(directory)).not.toContain("platform.pid");
  });
});

describe("bun start --fresh", () => {
  test("deletes the data of earlier starts, and no other file", async () => {
    const directory = join(parent, "fresh");
    await bash("$START | head -1", directory);
    await writeFile(join(directory, "admin-token"), "an-earlier-token");
    await writeFile(join(directory, "notes"), "mine");
    await writeFile(join(directory, "database", "earlier"), "");
    await bash("$START --fresh | head -1", directory);
    expect(await Bun.file(join(directory, "notes")).text()).toBe("mine");
    expect(await Bun.file(join(directory, "admin-token")).text()).not.toBe("an-earlier-token");
    expect(await readdir(join(directory, "database"))).not.toContain("earlier");
  });

  test("refuses to delete a folder database that contains other files", async () => {
    const directory = join(parent, "theirs");
    await mkdir(join(directory, "database"), { recursive: true });
    await writeFile(join(directory, "database", "schema.sql"), "create table precious();");
    const { stdout, stderr } = await bash("$START --fresh", directory);
    expect(stdout).toBe("codes 78\n");
    expect(stderr).toContain(
      "its folder database contains other files, which --fresh would delete: move them first.",
    );
    expect(await readdir(join(directory, "database"))).toEqual(["schema.sql"]);
  });

  test("deletes nothing while another platform uses the folder", async () => {
    const directory = join(parent, "running");
    const { stdout, stderr } = await bash(
      `$START & first=$!; until grep -qs . $DATA_DIR/ostiary.log; do sleep 0.1; done; $START --fresh; echo "second $?"; kill $first; wait $first`,
      directory,
      { DATABASE_URL: await freshDatabase() },
    );
    expect(stderr).toMatch(
      /DATA_DIR is .*, which cannot be used: Ostiary already runs there, as process \d+: use that Ostiary, or stop it first\.\n$/,
    );
    expect(stdout).toContain("second 78\n");
    expect(stdout).toEndWith("codes 0\n");
    expect(await readdir(directory)).toContain("admin-token");
  });
});
