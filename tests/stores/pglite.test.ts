import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseDirectoryError, openDatabase, StoreUnavailable } from "@ostiary/lib/stores/database";
import { sql } from "drizzle-orm";
import { rejection } from "../support/index.ts";

describe("database on PGlite in a directory", () => {
  let parent: string;

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), "ostiary-pglite-"));
  });
  afterAll(() => rm(parent, { recursive: true, force: true }));

  const open = (directory: string) => openDatabase(`pglite://${directory}`, { namespace: "suite" });

  test("finds its data again, in a directory it makes itself", async () => {
    const directory = join(parent, "new", "data with space");
    const first = await open(directory);
    await first.run("create", (orm) => orm.execute(sql`create table kept as select 7 as id`));
    await first.close();
    const second = await open(`${directory}/`);
    const rows = await second.run("select", (orm) => second.rows(orm, sql`select id from kept`));
    expect(rows).toEqual([{ id: 7 }]);
    await second.close();
  });

  test("takes over from a process that is gone, and gives the directory up when closed", async () => {
    const directory = join(parent, "taken-over");
    const claim = `${directory}.pid`;
    const gone = Bun.spawn(["true"]);
    await gone.exited;
    await writeFile(claim, String(gone.pid));
    const database = await open(directory);
    expect(await readFile(claim, "utf8")).toBe(String(process.pid));
    await database.close();
    await database.close();
    expect(await rejection(access(claim))).toBeInstanceOf(Error);
  });

  test("refuses a directory that another process uses, and names both", async () => {
    const directory = join(parent, "in-use");
    const holder = Bun.spawn(["sleep", "60"]);
    await writeFile(`${directory}.pid`, String(holder.pid));
    const error = await rejection(open(directory));
    holder.kill();
    expect(error).toBeInstanceOf(DatabaseDirectoryError);
    expect(String(error)).toContain(directory);
    expect(String(error)).toContain(String(holder.pid));
  });

  test("refuses a directory that cannot be made, and says which and why", async () => {
    await writeFile(join(parent, "file"), "");
    const directory = join(parent, "file", "data");
    const error = await rejection(open(directory));
    expect(error).toBeInstanceOf(DatabaseDirectoryError);
    expect(String(error)).toContain(`${directory} cannot be used: there is a file in its place.`);
  });

  test.if(process.getuid?.() !== 0)("refuses a directory that it may not write", async () => {
    const closed = join(parent, "closed");
    await mkdir(closed, { mode: 0o500 });
    const error = await rejection(open(join(closed, "data")));
    expect(String(error)).toContain("permission denied");
  });

  test("refuses a directory that holds something else", async () => {
    const directory = join(parent, "something-else");
    await mkdir(directory);
    await writeFile(join(directory, "PG_VERSION"), "nonsense");
    const error = await rejection(open(directory));
    expect(error).toBeInstanceOf(DatabaseDirectoryError);
    expect(String(error)).toContain(directory);
  });

  test("is unavailable to every view once closed", async () => {
    const database = await open(join(parent, "closed-views"));
    const view = database.scoped("other", () => {});
    await database.close();
    expect(await rejection(view.run("select", (orm) => orm.execute(sql`select 1`)))).toBeInstanceOf(
      StoreUnavailable,
    );
  });
});
