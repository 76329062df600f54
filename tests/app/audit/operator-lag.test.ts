import { beforeAll, describe, expect, test } from "bun:test";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import { selectOperatorReading } from "../../../apps/audit/streams/operator/operator-stream-sql.ts";
import { duringTests } from "../../support/during-tests.ts";
import { newLog } from "./bed.ts";

// AU-113
describe("the lag of the operator's stream is the age of the oldest leaf that is not delivered", () => {
  const database = duringTests(newLog);
  const run = (statement: SQL) => database.run("prepare", (orm) => rows(orm, statement));
  beforeAll(async () => {
    for (const [number, ageS] of [
      [1, 9_000],
      [2, 600],
      [3, 60],
    ]) {
      await run(sql`insert into audit.leaves (number, sealed_at, map, hashes)
        values (${number}::bigint, now() - make_interval(secs => ${ageS}::integer), '\\x00', '\\x00')`);
    }
    for (const [id, leaf] of [
      [1, 1],
      [2, 2],
      [3, 2],
      [4, 3],
    ]) {
      await run(sql`insert into audit.chains (id, owner, position, chain, leaf)
        values (${id}::bigint, ${`organization:${id}`}, 1, '\\x00', ${leaf}::bigint)`);
    }
  });

  test.each([
    ["of which one log is delivered", 2, 2, 600],
    ["of which all logs are delivered", 2, 3, 60],
    ["before two others", 1, 1, 600],
    ["that is the last", 3, 4, 0],
  ])("after a leaf %s", async (_, leaf, chain_id, lag_s) => {
    await run(sql`delete from audit.operator_stream`);
    await run(sql`insert into audit.operator_stream (url, leaf, chain_id)
      values ('https://a.example/', ${leaf}::bigint, ${chain_id}::bigint)`);
    const reading = await selectOperatorReading(database);
    // Compare whole minutes: the test takes seconds, so the lag is up to a few seconds more than expected.
    expect(Math.floor((reading?.lag_s ?? -1) / 60)).toBe(lag_s / 60);
  });
});
