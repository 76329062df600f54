import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Database, openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { ProjectionLag } from "../../../apps/registry/projection/projection-lag.ts";
import { freshDatabase } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";

const MIGRATIONS = new URL("../../../drizzle/routes", import.meta.url).pathname;

/**
 * A clock that starts at the current time, like the database's clock, but moves only when a test advances it.
 */
const time = manualClock(new Date());
let database: Database;
let lag: ProjectionLag;

beforeEach(async () => {
  database = await openDatabase(await freshDatabase(), { namespace: "routes" });
  await database.migrate("routes", MIGRATIONS);
  lag = new ProjectionLag(database, time);
});
afterEach(() => database.close());

const run = (statement: ReturnType<typeof sql>) => database.run("test", (orm) => rows(orm, statement));
/** Writes a service with the fence of a write `secondsAgo`. A fence is a time in microseconds. */
const write = (name: string, secondsAgo = 0) =>
  run(sql`insert into routes.services (name, revision, deleted, life, fence)
          values (${name}, 1, false, 0,
            ((extract(epoch from clock_timestamp()) - ${secondsAgo}::float8) * 1000000)::bigint)
          on conflict (name) do update set fence = excluded.fence, revision = services.revision + 1`);
const project = (name: string) =>
  run(sql`update routes.services set projected_fence = fence where name = ${name}`);

test("the lag is zero while everything is projected", async () => {
  expect(await lag.measure()).toEqual({ outstanding: 0, age_seconds: 0 });
  await write("a", 1_000);
  await project("a");
  expect(await lag.measure()).toEqual({ outstanding: 0, age_seconds: 0 });
});

test("the lag grows with the age of outstanding services, including those from before the start", async () => {
  await write("old", 100);
  await write("new");
  const first = await lag.measure();
  expect(first.outstanding).toBe(2);
  expect(first.age_seconds).toBeWithin(100, 130);
  expect((await lag.list()).map(({ service }) => service)).toEqual(["old", "new"]);
  time.advance(20_000);
  expect((await lag.measure()).age_seconds).toBeCloseTo(first.age_seconds + 20, 3);
  await project("old");
  const second = await lag.measure();
  expect(second.outstanding).toBe(1);
  expect(second.age_seconds).toBeWithin(20, 50);
});

test("the lag does not depend on changes of the clock", async () => {
  await write("old");
  const { age_seconds } = await lag.measure();
  time.advance(40_000);
  for (const hours of [-1, 1]) {
    time.set(time.now() + hours * 3_600_000);
    expect((await lag.measure()).age_seconds).toBeCloseTo(age_seconds + 40, 3);
  }
});

test("a fence from a clock that is ahead has an age of 0", async () => {
  await write("ahead", -86_400);
  expect(await lag.measure()).toEqual({ outstanding: 1, age_seconds: 0 });
});
