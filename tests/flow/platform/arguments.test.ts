import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshDatabase, leash } from "../../support/services.ts";
import { FREE_PORTS } from "./bed.ts";

/** The command line of `bun start`, and the readers of its output. */

setDefaultTimeout(180_000);

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "ostiary-arguments-"));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

/** Runs a line of bash where `$START` is the platform. Returns its output, and every exit code. */
async function bash(line: string, DATA_DIR = join(parent, "data"), variables: Record<string, string> = {}) {
  const child = Bun.spawn(["bash", "-c", `${line}; echo "codes \${PIPESTATUS[*]}"`], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: parent,
      START: `${process.execPath} apps/platform/main.ts`,
      DATA_DIR,
      ...FREE_PORTS,
      ...variables,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  leash().process(child.pid);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  leash().release(child.pid);
  return { stdout, stderr };
}

describe("bun start", () => {
  test.each(["--help", "-h", "--fresh --help"])("%s explains itself", async (parameters) => {
    const { stdout, stderr } = await bash(`$START ${parameters}`);
    expect(stderr).toBe("");
    expect(stdout).toStartWith("Usage: bun start [options]\n");
    for (const part of ["--fresh", "DATA_DIR", "DEMO=false", "Exit codes:"]) expect(stdout).toContain(part);
    expect(stdout).toEndWith("codes 0\n");
  });

  test("--version prints the product's version", async () => {
    const { version } = await Bun.file("package.json").json();
    expect(await bash("$START --version")).toEqual({ stdout: `${version}\ncodes 0\n`, stderr: "" });
  });

  test.each([
    ["--nosuch", "unknown option '--nosuch'"],
    ["start", "too many arguments for 'start'"],
    ["apply routes.yaml", "too many arguments for 'start'"],
    ["--fresh=1", "unknown option '--fresh=1'"],
    ["-x", "unknown option '-x'"],
  ])("%s is wrong usage", async (parameters, message) => {
    const { stdout, stderr } = await bash(`$START ${parameters}`);
    expect(stdout).toBe("codes 2\n");
    expect(stderr).toContain(`error: ${message}`);
  });

  test("--help may be cut off by its reader", async () => {
    expect(await bash("$START --help | true")).toEqual({ stdout: "codes 0 0\n", stderr: "" });
  });

  test("stops in order when nobody reads its screen any more", async () => {
    const directory = join(parent, "unread");
    expect(await bash("$START | head -1", directory, { DATABASE_URL: await freshDatabase() })).toEqual({
      stdout: "Opening the stores ...\ncodes 0 0\n",
      stderr: "",
    });
    expect(await readdir(directory)).not.toContain("platform.pid");
  });
});

describe("bun start --fresh", () => {
  test("deletes what earlier starts left, and nothing else", async () => {
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

  test("deletes no other folder with the same name", async () => {
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

  test("deletes nothing while a platform runs there", async () => {
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
