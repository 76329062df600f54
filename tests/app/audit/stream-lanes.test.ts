import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { claimStreams, type ReceiverRecord } from "@ostiary/audit/streams/delivery-sql";
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
    delivered?: number | null;
    waitsS?: number;
    status?: string;
  }
  const add = ({ id, is_slow = false, delivered = null, waitsS = 1, status = "active" }: Stream) =>
    run(sql`insert into audit.streams (id, organization_id, url, format, secret, position, after_position, after_chain,
        is_slow, delivered_position, status, next_attempt_at)
      values (${id}, 'one', 'https://a.example/', 'ostiary', 's', 3, 3, '\\x00', ${is_slow}, ${delivered}::bigint,
        ${status}, now() - make_interval(secs => ${waitsS}::integer))`);

  const claimed = async (record: ReceiverRecord, limit = 100) =>
    (await claimStreams(database, "lease", record, limit)).map(({ id }) => id).toSorted();

  test("are those with a fast last call, those that were never called, or the slow ones", async () => {
    await add({ id: "accepted", delivered: 3 });
    await add({ id: "new" });
    await add({ id: "was fast", delivered: 3, is_slow: true });
    await add({ id: "never answered", is_slow: true, status: "failing" });
    await add({ id: "paused", delivered: 3, status: "paused" });
    expect(await claimed("fast")).toEqual(["accepted"]);
    expect(await claimed("unknown")).toEqual(["new"]);
    expect(await claimed("slow")).toEqual(["never answered", "was fast"]);
  });

  test("are claimed longest-waiting first, and never by two replicas at once", async () => {
    for (let n = 0; n < 20; n++) await add({ id: `stream-${n}`, delivered: 3, waitsS: n * 60 });
    expect(await claimed("fast", 2)).toEqual(["stream-18", "stream-19"]);
    const both = await Promise.all([claimed("fast"), claimed("fast")]);
    expect(both.flat().toSorted()).toEqual(Array.from({ length: 18 }, (_, n) => `stream-${n}`).toSorted());
  });

  test("are claimed even among a thousand streams that were never called", async () => {
    await run(sql`insert into audit.streams (id, organization_id, url, format, secret, position, after_position,
        after_chain, next_attempt_at)
      select 'silent-' || n, 'one', 'https://a.example/', 'ostiary', 's', 3, 3, '\\x00', now() - interval '1 hour'
      from generate_series(1, 1000) n`);
    await add({ id: "fast", delivered: 3, waitsS: 0 });
    expect(await claimed("fast", 1)).toEqual(["fast"]);
    expect(await claimed("unknown", 16)).toHaveLength(16);
  });
});
