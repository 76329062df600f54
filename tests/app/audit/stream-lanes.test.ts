import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Clock, unstalledClock } from "@ostiary/lib/async";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { claimStreams } from "../../../apps/audit/streams/delivery-sql.ts";
import { duringTests } from "../../support/during-tests.ts";
import { services, waitFor } from "../../support/index.ts";
import { intent, newLog, requestId, sharedLog } from "./bed.ts";
import { writeEvents } from "./proof-bed.ts";
import { callStreams, STREAMS, sharedReceiver, sharedStreamingAudit } from "./streams-bed.ts";

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
    is_slow?: boolean | null;
    waitsS?: number;
    status?: string;
  }
  const add = ({ id, is_slow = false, waitsS = 1, status = "active" }: Stream) =>
    run(sql`insert into audit.streams (id, organization_id, url, format, secret, position, after_position, after_chain,
        is_slow, status, next_attempt_at)
      values (${id}, 'one', 'https://a.example/', 'ostiary', 's', 3, 3, '\\x00', ${is_slow}, ${status}, now() - make_interval(secs => ${waitsS}::integer))`);

  const claimed = async (isSlow: boolean | null, limit = 100) =>
    (await claimStreams(database, "lease", isSlow, limit)).map(({ id }) => id).toSorted();

  test("are those with a fast last call, those that were not called yet, or the others", async () => {
    await add({ id: "accepted" });
    await add({ id: "new", is_slow: null });
    await add({ id: "never responded", is_slow: true, status: "failing" });
    await add({ id: "paused", status: "paused" });
    expect(await claimed(false)).toEqual(["accepted"]);
    expect(await claimed(null)).toEqual(["new"]);
    expect(await claimed(true)).toEqual(["never responded"]);
  });

  // AU-105
  test("are claimed longest-waiting first, and never by two replicas at once", async () => {
    for (let n = 0; n < 20; n++) await add({ id: `stream-${n}`, waitsS: n * 60 });
    expect(await claimed(false, 2)).toEqual(["stream-18", "stream-19"]);
    const both = await Promise.all([claimed(false), claimed(false)]);
    expect(both.flat().toSorted()).toEqual(Array.from({ length: 18 }, (_, n) => `stream-${n}`).toSorted());
  });
});

/** A clock on which a call to a receiver never times out. */
const clock: Clock = {
  ...unstalledClock,
  after: (ms, work) => (ms > 9_000 && ms <= 10_000 ? () => {} : unstalledClock.after(ms, work)),
};

// AU-117
describe.skipIf(!services().postgres.real)(
  "while receivers of other organizations hold all slots of slow streams",
  () => {
    const [receiver, silent] = [sharedReceiver(), sharedReceiver()];
    const audit = sharedStreamingAudit([receiver, silent], { clock });
    const log = sharedLog(audit);
    const released = Promise.withResolvers<void>();
    silent.respond = async () => {
      await released.promise;
      return new Response(null, { status: 410 });
    };
    afterAll(() => released.resolve());

    const call = async (method: string, path: string, body?: unknown) =>
      (await callStreams(audit, method, path, body)).body;
    const makeSlow = (id: string | null) =>
      log.run("prepare", (orm) =>
        rows(orm, sql`update audit.streams set is_slow = true where id = coalesce(${id}, id)`),
      );

    beforeAll(async () => {
      const others = Array.from({ length: 4 }, (_, n) => `/organizations/other-${n}/audit-streams`);
      for (const path of others) for (let n = 0; n < 10; n++) await call("POST", path, { url: silent.url });
      await makeSlow(null);
      for (let n = 0; n < 4; n++) await audit.put(requestId(), intent({ organization_id: `other-${n}` }));
      await waitFor(() => silent.calls.length === 32);
    });

    test.each([
      ["is new", []],
      ["is started again", [{ status: "paused" }, { status: "active" }]],
      ["gets another URL", [{ url: `${receiver.url}/moved` }]],
    ])("a stream that %s is delivered", async (_, changes: object[]) => {
      const { id } = await call("POST", STREAMS, { url: receiver.url });
      if (changes.length > 0) await makeSlow(id);
      for (const change of changes) await call("PATCH", `${STREAMS}/${id}`, change);
      receiver.calls.length = 0;
      await writeEvents(audit, 2);
      await waitFor(() => receiver.calls.some(({ body }) => JSON.parse(body).data.stream_id === id));
      expect(silent.calls).toHaveLength(32);
    });
  },
);
