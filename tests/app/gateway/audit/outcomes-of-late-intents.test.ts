import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createAuditClient } from "@ostiary/gateway/audit/client";
import { OutcomeQueue } from "@ostiary/gateway/audit/outcome-queue";
import { type AuditStandIn, answering, startAudit, taken } from "../../../support/gateway/audit-stand-in.ts";
import { waitFor } from "../../../support/index.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

let audit: AuditStandIn;
let clock: ReturnType<typeof manualClock>;
let queue: OutcomeQueue;
let written: string[];
beforeEach(() => {
  audit = startAudit();
  clock = manualClock();
  written = [];
  queue = new OutcomeQueue({
    client: createAuditClient(audit.url, undefined),
    size: 100,
    log: { info() {}, warn() {}, error() {} },
    metrics: { written: (_, result) => written.push(result) },
    clock,
  });
});
afterEach(async () => {
  const closed = queue.close(0);
  clock.advance(0);
  await closed;
  await audit.stop();
});

const push = (request_id: string) => queue.push(request_id, { outcome: "rejected", status: 503 });
const pausing = (count: number) =>
  waitFor(() => clock.waiting().length === count, { what: "an outcome to wait for its retry" });
const delivered = () => waitFor(() => queue.underway === 0, { what: "the delivery of every outcome" });

describe("an outcome without an event", () => {
  beforeEach(() => {
    audit.answer = answering(404);
  });

  // GW-145
  test("is retried after five seconds, and accepted if its intent was written in the meantime", async () => {
    push("late");
    await pausing(1);
    expect(clock.waiting()).toEqual([5_000]);
    audit.answer = taken;
    clock.advance(5_000);
    await delivered();
    expect(written).toEqual(["ok"]);
    expect(audit.of("PATCH").map(({ path }) => path)).toEqual(Array(2).fill("/internal/events/late"));
  });

  test("is dropped and counted if the event still does not exist", async () => {
    push("nobody");
    await pausing(1);
    clock.advance(5_000);
    await delivered();
    expect(written).toEqual(["not_found"]);
    expect(audit.of("PATCH")).toHaveLength(2);
  });

  test("is retried at once when the gateway stops", async () => {
    push("late");
    await pausing(1);
    audit.answer = taken;
    await queue.close(5_000);
    expect(written).toEqual(["ok"]);
  });
});
