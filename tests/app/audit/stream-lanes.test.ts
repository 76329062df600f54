import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { claimStreams } from "@ostiary/audit/streams/delivery-sql";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { duringTests } from "../../support/during-tests.ts";
import { newLog } from "./audit-service.ts";

// AU-117
describe("the streams of a lane", () => {
  const database = duringTests(newLog);
  beforeAll(() =>
    run(sql`insert into audit.chains (id, owner, position, chain, leaf)
      values (1, 'organization:one', 9, '\\x00', 1)`),
  );
  beforeEach(() => run(sql`delete from audit.streams`));

  const run = (statement: ReturnType<typeof sql>) => database.run("prepare", (orm) => rows(orm, statement));

  /** A stream that has entries to deliver. */
  interface Stream {
    id: string;
    is_slow?: boolean;
    waitsS?: number;
    status?: string;
  }
  const add = ({ id, is_slow = false, waitsS = 1, status = "active" }: Stream) =>
    run(sql`insert into audit.streams (id, organization_id, url, format, secret, position, after_position, after_chain,
        is_slow, status, next_attempt_at)
      values (${id}, 'one', 'https://a.example/', 'ostiary', 's', 3, 3, '\\x00', ${is_slow}, ${status}, now() - make_interval(secs => ${waitsS}::integer))`);

  const claimed = async (isSlow: boolean, limit = 100) =>
    (await claimStreams(database, "lease", isSlow, limit)).map(({ id }) => id).toSorted();

  test("are those with a fast last call, or the others", async () => {
    await add({ id: "accepted" });
    await add({ id: "never answered", is_slow: true, status: "failing" });
    await add({ id: "paused", status: "paused" });
    expect(await claimed(false)).toEqual(["accepted"]);
    expect(await claimed(true)).toEqual(["never answered"]);
  });

  test("are claimed longest-waiting first, and never by two replicas at once", async () => {
    for (let n = 0; n < 20; n++) await add({ id: `stream-${n}`, waitsS: n * 60 });
    expect(await claimed(false, 2)).toEqual(["stream-18", "stream-19"]);
    const both = await Promise.all([claimed(false), claimed(false)]);
    expect(both.flat().toSorted()).toEqual(Array.from({ length: 18 }, (_, n) => `stream-${n}`).toSorted());
  });
});
