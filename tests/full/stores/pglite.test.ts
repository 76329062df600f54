import { beforeAll, describe, expect, test } from "bun:test";
import { access, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UnusableDirectory } from "@ostiary/lib/runtime/claimed-directory";
import { openDatabase, pgliteUrl, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { rejection } from "../../support/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

describe("database on PGlite in a directory", () => {
  let parent: string;
  /** A directory that a database created. Most tests use copies, because the creation is slow. */
  let made: string;

  beforeAll(async () => {
    parent = temporaryFolder("pglite");
    made = join(parent, "new", "100%41 #?ü'&");
    const database = await openDatabase(pgliteUrl(made), { namespace: "suite" });
    await database.run("create", (orm) => orm.execute(sql`create table kept as select 7 as id`));
    await database.close();
  });

  /** Returns a copy of `made`, as the directory of an earlier process. */
  async function madeBefore(name: string): Promise<string> {
    const directory = join(parent, name);
    await cp(made, directory, { recursive: true });
    return directory;
  }

  const open = (directory: string) => openDatabase(`pglite://${directory}`, { namespace: "suite" });

  test("creates its directory, with any characters in its name, and finds its data there again", async () => {
    expect(await readdir(made)).toContain("PG_VERSION");
    const database = await openDatabase(`${pgliteUrl(made)}/`, { namespace: "suite" });
    const found = await database.run("select", (orm) => rows(orm, sql`select id from kept`));
    expect(found).toEqual([{ id: 7 }]);
    await database.close();
  });

  test.each([
    ["no process has", () => "999999999"],
    ["another program has now", () => String(process.ppid)],
    ["cannot be read", () => "\u0000"],
  ])(
    "takes over a directory whose recorded process id %s, and releases it when closed",
    async (whom, holder) => {
      const directory = await madeBefore(whom);
      const note = `${directory}.pid`;
      await writeFile(note, holder());
      const database = await open(directory);
      expect(await readFile(note, "utf8")).toBe(String(process.pid));
      await database.close();
      await database.close();
      expect(await rejection(access(note))).toBeInstanceOf(Error);
      await (await open(directory)).close();
    },
  );

  test("refuses a directory that another process uses until that process is killed", async () => {
    const directory = await madeBefore("in-use");
    const holder = await holdDirectory(directory);
    const error = await rejection(open(directory));
    expect(error).toBeInstanceOf(UnusableDirectory);
    expect(String(error)).toContain(`${directory} cannot be used: process ${holder.pid} is using it.`);
    holder.kill("SIGKILL");
    await holder.exited;
    await (await open(directory)).close();
  });

  test("is used by one of several processes that start at the same moment", async () => {
    const directory = join(parent, "same-moment");
    // A process that was killed leaves its file behind, which must not help or block any of the new processes.
    await writeFile(`${directory}.pid`, String(process.ppid));
    const all = Array.from({ length: 6 }, () => claimAt(directory, Date.now() + 1_000));
    const claimed = await Promise.all(all.map(({ line }) => line));
    expect(claimed.filter((line) => line === "claimed")).toHaveLength(1);
    for (const { child } of all) child.kill("SIGKILL");
    await Promise.all(all.map(({ child }) => child.exited));
  });

  test("refuses a directory that cannot be created, and says why", async () => {
    await writeFile(join(parent, "file"), "");
    const directory = join(parent, "file", "data");
    const error = await rejection(open(directory));
    expect(error).toBeInstanceOf(UnusableDirectory);
    expect(String(error)).toContain(`${directory} cannot be used: a file with this name exists.`);
  });

  test.if(process.getuid?.() !== 0)("refuses a directory that it may not write to", async () => {
    const closed = join(parent, "closed");
    await mkdir(closed, { mode: 0o500 });
    const error = await rejection(open(join(closed, "data")));
    expect(String(error)).toContain("permission denied");
  });
});

const CLAIM = join(import.meta.dir, "../../support/stores/claim-process.ts");

/** Starts a process that claims `directory` at `atMs`, and holds the claim until the process is killed. */
function claimAt(directory: string, atMs: number) {
  const child = Bun.spawn([process.execPath, CLAIM, directory, String(atMs)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  return { child, line: firstLine(child.stdout) };
}

async function holdDirectory(directory: string) {
  const { child, line } = claimAt(directory, 0);
  expect(await line).toBe("claimed");
  return child;
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { value } = await stream.getReader().read();
  return new TextDecoder().decode(value).split("\n")[0] ?? "";
}
