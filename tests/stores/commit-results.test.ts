/** Tests of the result of COMMIT: the driver takes ROLLBACK for success. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Database, openDatabase, rows, StoreUnavailable } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { freshDatabase, rejection, services, startProxy } from "../support/index.ts";

// OP-130
describe.skipIf(!services().postgres.real)("a COMMIT to which PostgreSQL responds with ROLLBACK", () => {
  let database: Database;
  const count = async () =>
    (await database.run("count", (orm) => rows<{ count: number }>(orm, sql`select count(*) from written`)))[0]
      ?.count;

  beforeAll(async () => {
    database = await openDatabase(await freshDatabase(), { namespace: "suite", poolMax: 2 });
    await database.run("create", (orm) => orm.execute(sql`create table written (id int)`));
  });
  beforeEach(async () => {
    await database.run("truncate", (orm) => orm.execute(sql`truncate written`));
  });
  afterAll(() => database.close());

  test("fails the caller whose work ignored a failed statement", async () => {
    const ignoring = database.transaction("write", async (tx) => {
      await tx.execute(sql`insert into written values (1)`);
      await tx.execute(sql`select 1 / 0`).catch(() => {});
      return "acknowledged";
    });
    expect(await rejection(ignoring)).toBeInstanceOf(StoreUnavailable);
    expect(await count()).toBe(0);
  });

  test("fails the caller when only the response says so", async () => {
    const url = await freshDatabase();
    const response = Buffer.from("COMMIT\0");
    let lies = false;
    const proxy = await startProxy(url, (bytes) => {
      const at = lies ? bytes.indexOf(response) : -1;
      if (at >= 0) bytes.write("BOMMIT", at);
    });
    const lied = await openDatabase(proxy.url, { namespace: "suite", poolMax: 1 });
    await lied.transaction("read", (tx) => tx.execute(sql`select 1`));
    lies = true;
    const error = await rejection(lied.transaction("read", (tx) => tx.execute(sql`select 1`)));
    expect(error).toBeInstanceOf(StoreUnavailable);
    await lied.close();
    await proxy.close();
  });
});
