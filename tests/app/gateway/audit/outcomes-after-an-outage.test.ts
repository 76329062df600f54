import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { AuditOutcome } from "@ostiary/lib/contracts/audit";
import { createAuditClient } from "../../../../apps/gateway/audit/audit-client.ts";
import { OutcomeQueue } from "../../../../apps/gateway/audit/outcome-queue.ts";
import { type AuditStandIn, responding, startAudit, taken } from "../../../support/gateway/audit-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const responded: AuditOutcome = {
  outcome: "responded",
  status: 200,
  details: null,
  created_id: null,
  organization_id: null,
  member_id: null,
};
const WAITING = 20;

let audit: AuditStandIn;
let clock: ReturnType<typeof manualClock>;
let queue: OutcomeQueue;
let written: string[];
beforeEach(() => {
  audit = startAudit();
  clock = manualClock();
  written = [];
  const nowhere = { info() {}, warn() {}, error() {} };
  const client = createAuditClient(audit.url, undefined);
  const metrics = { written: (_: string, result: string) => written.push(result) };
  queue = new OutcomeQueue({ client, size: 100, log: nowhere, metrics, clock });
});
afterEach(async () => {
  const closed = queue.close(0);
  clock.advance(0);
  await closed;
  await audit.stop();
});

const push = (request_id: string) => queue.push(request_id, responded);
const allPause = (count: number) =>
  waitFor(() => clock.waiting().length === count, { what: "all outcomes to wait for their retry" });

/**
 * Lets each outcome fail six times, so that it backs off for more than 3 s. Then the audit service recovers.
 */
async function outage(): Promise<void> {
  audit.respond = responding(503);
  for (let at = 0; at < WAITING; at++) push(`waits-${at}`);
  for (let attempt = 0; attempt < 6; attempt++) {
    await allPause(WAITING);
    if (attempt < 5) clock.advance(clock.waiting().at(-1) ?? 0);
  }
  expect(Math.min(...clock.waiting())).toBeGreaterThan(3_000);
  audit.respond = taken;
}

test("after an outage, the first accepted outcome ends the backoff of all others", async () => {
  await outage();
  push("new");
  await waitFor(() => queue.underway === 0, { what: "the audit service to accept all outcomes" });
});

// GW-145
test("an outcome that always fails keeps backing off while others are accepted", async () => {
  audit.respond = (write) => (write.path.endsWith("poison") ? responding(500)(write) : taken(write));
  push("good");
  await waitFor(() => queue.underway === 0);
  push("poison");
  await allPause(1);
  const tries = () => audit.writes.filter(({ path }) => path.endsWith("poison")).length;
  const before = tries();
  for (let at = 0; at < WAITING; at++) {
    push(`good-${at}`);
    await waitFor(() => queue.underway === 1);
  }
  expect(tries()).toBe(before);
});

describe("an outcome without an event", () => {
  beforeEach(() => {
    audit.respond = responding(404);
  });

  // GW-145
  test("is retried after five seconds, and accepted if its intent was written in the meantime", async () => {
    push("late");
    await allPause(1);
    expect(clock.waiting()).toEqual([5_000]);
    audit.respond = taken;
    clock.advance(5_000);
    await waitFor(() => queue.underway === 0);
    expect(written).toEqual(["ok"]);
    expect(audit.of("PATCH").map(({ path }) => path)).toEqual(Array(2).fill("/internal/events/late"));
  });

  test("is dropped and counted if the event still does not exist", async () => {
    push("nobody");
    await allPause(1);
    clock.advance(5_000);
    await waitFor(() => queue.underway === 0);
    expect(written).toEqual(["not_found"]);
    expect(audit.of("PATCH")).toHaveLength(2);
  });

  test("is retried at once when the gateway stops", async () => {
    push("late");
    await allPause(1);
    audit.respond = taken;
    await queue.close(5_000);
    expect(written).toEqual(["ok"]);
  });
});
