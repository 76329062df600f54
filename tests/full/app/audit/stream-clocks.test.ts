import { afterEach, describe, expect, test } from "bun:test";
import { type Clock, unstalledClock } from "@ostiary/lib/async";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { sharedLog } from "../../../app/audit/bed.ts";
import { operatorVariables, provenOf } from "../../../app/audit/operator-bed.ts";
import { exportProof, writeEvents } from "../../../app/audit/proof-bed.ts";
import {
  callStreams,
  proven,
  STREAMS,
  sharedReceiver,
  sharedStreamingAudit,
} from "../../../app/audit/streams-bed.ts";
import { services, waitFor } from "../../../support/index.ts";

const SOON = { timeoutMs: 60_000 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A clock with a wall-clock offset that the test sets. */
class SetClock implements Clock {
  offsetMs = 0;
  now = () => unstalledClock.now() + this.offsetMs;
  elapsedMs = unstalledClock.elapsedMs;
  after = unstalledClock.after;
}

const accept = () => new Response(null, { status: 204 });
/** Returns 503 and asks for a pause of an hour, so that no retry comes during a test. */
const refuse = () => new Response(null, { status: 503, headers: { "Retry-After": "3600" } });

// AU-186
describe.skipIf(!services().postgres.real)("a stream when a clock jumps", () => {
  const clock = new SetClock();
  const [receiver, operators] = [sharedReceiver(), sharedReceiver()];
  const env = { ...operatorVariables(operators.url), AUDIT_OPERATOR_STREAM_FROM: "start" };
  const audit = sharedStreamingAudit([receiver, operators], { clock, env });
  const log = sharedLog(audit);
  afterEach(async () => {
    clock.offsetMs = 0;
    receiver.respond = accept;
    receiver.calls.length = 0;
    const { audit_streams } = (await callStreams(audit, "GET", STREAMS)).body;
    for (const { id } of audit_streams) await callStreams(audit, "DELETE", `${STREAMS}/${id}`);
  });

  /** Simulates a jump of the database clock by `ms`: shifts the stored times of all streams the other way. */
  const jump = (ms: number) =>
    log.run("jump", async (orm) => {
      const moved = sql`next_attempt_at = next_attempt_at - ${ms}::float8 * interval '1 millisecond',
        lease_until = lease_until - ${ms}::float8 * interval '1 millisecond'`;
      await rows(orm, sql`update audit.operator_stream set ${moved}`);
      await rows(orm, sql`update audit.streams set ${moved}`);
    });
  const head = async () => (await exportProof(audit)).end.head;
  const create = async () => (await callStreams(audit, "POST", STREAMS, { url: receiver.url })).body;
  const read = async (id: string) => (await callStreams(audit, "GET", `${STREAMS}/${id}`)).body;

  /**
   * Waits until both receivers have all entries. Verifies the chains, so no entry is missing or out of order.
   * Then waits until every stream shows no lag, because a stream stores its position after the receiver's
   * response.
   */
  async function caughtUp(begun: { position: number; chain: string }): Promise<void> {
    const end = await head();
    const got = () => proven(receiver, begun);
    await waitFor(() => got().position === end.position, { ...SOON, what: "all entries" });
    const ofAll = () => provenOf(operators, "organization-1");
    await waitFor(() => ofAll().position === end.position, { ...SOON, what: "all entries of the operator" });
    expect([got().chain, ofAll().chain]).toEqual([end.chain, end.chain]);
    const streams = async () => (await callStreams(audit, "GET", STREAMS)).body.audit_streams;
    const saysSo = (stream: { status: string; lag_events: number; failing_since: string | null }) =>
      stream.status === "active" && stream.lag_events === 0 && stream.failing_since === null;
    await waitFor(async () => (await streams()).every(saysSo), { ...SOON, what: "streams without a lag" });
  }

  test.each([
    ["a month back", -30 * DAY_MS],
    ["a day forwards", DAY_MS],
  ])("(the database's, %s) continues at once, and loses nothing", async (_, ms) => {
    const begun = await head();
    await create();
    await writeEvents(audit, 3);
    await caughtUp(begun);
    await jump(ms);
    await writeEvents(audit, 3);
    await caughtUp(begun);
  });

  test("(the database's) continues although a dead replica holds the lease", async () => {
    const begun = await head();
    await create();
    await log.run("hold", async (orm) => {
      const held = sql`lease = 'dead', lease_until = clock_timestamp() + interval '1 hour'`;
      await rows(orm, sql`update audit.streams set ${held}`);
      await rows(orm, sql`update audit.operator_stream set ${held}`);
    });
    await writeEvents(audit, 3);
    await caughtUp(begun);
  });

  test.each([
    ["back", -DAY_MS],
    ["forwards", DAY_MS],
  ])(
    "(the database's, a day %s) during a long pause calls its receiver again, and does not count the day as failing",
    async (_, ms) => {
      const begun = await head();
      receiver.respond = refuse;
      const { id } = await create();
      await writeEvents(audit, 2);
      await waitFor(async () => (await read(id)).status === "failing", SOON);
      const refused = receiver.calls.length;
      await jump(ms);
      await waitFor(() => receiver.calls.length > refused, { ...SOON, what: "the next attempt" });
      // The next jump must shift the pause after this attempt, which begins once the database has the failure.
      const failing = await waitFor(
        async () => {
          const found = await log.run("failing", (orm) =>
            rows<{ failing_ms: number; failures: number }>(
              orm,
              sql`select failing_ms, failures from audit.streams where id = ${id}`,
            ),
          );
          return found.find(({ failures }) => failures > refused);
        },
        { ...SOON, what: "the failure of the next attempt" },
      );
      expect(failing.failing_ms).toBeLessThan(DAY_MS);
      expect((await read(id)).status).toBe("failing");
      receiver.respond = accept;
      receiver.calls.length = 0;
      await jump(ms);
      await caughtUp(begun);
    },
  );

  // The jumps are shorter than a day, because the audit service refuses events that are 24 hours off its
  // clock.
  test.each([
    ["back", -23 * HOUR_MS],
    ["forwards", 23 * HOUR_MS],
  ])("(the replica's, 23 hours %s) still delivers and retries", async (_, ms) => {
    const begun = await head();
    await create();
    await writeEvents(audit, 2);
    await caughtUp(begun);
    clock.offsetMs = ms;
    let refusals = 2;
    receiver.respond = () => (refusals-- > 0 ? new Response(null, { status: 500 }) : accept());
    await writeEvents(audit, 2);
    await caughtUp(begun);
    expect(refusals).toBeLessThan(0);
  });
});
