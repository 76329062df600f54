/** Tests of when and how a gateway reports usage (GW-188, GW-190, GW-198). */
import { describe, expect, test } from "bun:test";
import { USAGE_COUNTS_MAX, USAGE_QUOTAS_MAX, type UsageReport } from "@ostiary/lib/contracts/usage-contract";
import { UsageCounter } from "../../../apps/gateway/usage/counter.ts";
import { QuotaCharges } from "../../../apps/gateway/usage/quota-charges.ts";
import { UsageReporter } from "../../../apps/gateway/usage/reporter.ts";
import { waitFor } from "../../support/index.ts";
import { manualClock } from "../../support/time/manual-clock.ts";
import { endedRequest, memberPrincipal } from "./ended-request.ts";

type Sent = [number: number, report: UsageReport];

/** A reporter with a stand-in for the audit service, which accepts each report number only once. */
class Bed {
  readonly clock = manualClock("2026-03-04T05:10:00.000Z");
  readonly counter = new UsageCounter();
  readonly charges = new QuotaCharges();
  readonly sent: Sent[] = [];
  readonly lines: string[] = [];
  /** The fields of each log line. */
  readonly fields: object[] = [];
  /**
   * The statuses of the next responses. An Error is a lost response. If the list is empty: 201, or 200 for a repeated
   * report.
   */
  readonly responses: (number | Error)[] = [];
  taken = 0;
  #last = 0;
  closed = false;
  readonly reporter: UsageReporter;

  constructor() {
    const line = (fields: object, text?: string) => {
      this.fields.push(fields);
      this.lines.push(text ?? "");
    };
    this.reporter = new UsageReporter({
      counter: this.counter,
      charges: this.charges,
      clock: this.clock,
      log: { info: line, warn: line, error: line },
      instance: "gateway-1",
      client: {
        putUsage: async (_instance, number, report) => {
          this.sent.push([number, report]);
          const response = this.responses.shift() ?? (number > this.#last ? 201 : 200);
          if (response instanceof Error || response < 300) this.#take(number, report);
          if (response instanceof Error) throw response;
          return response;
        },
        close: () => {
          this.closed = true;
        },
      },
    });
  }

  #take(number: number, { counts }: UsageReport): void {
    if (number <= this.#last) return;
    this.#last = number;
    this.taken += counts.reduce((sum, { requests }) => sum + requests, 0);
  }

  use(requests: number, organization_id = "o1"): void {
    const principal = memberPrincipal({ organization_id });
    for (let n = 0; n < requests; n++) {
      const request = endedRequest({
        principal,
        receivedAtMs: this.clock.now(),
        bytes_in: 0,
        bytes_out: 0,
      });
      this.counter.count(request, 200, null, 1);
    }
  }

  /** Charges requests to the monthly quota of a subject. */
  charge(requests: number, subject = "o1"): void {
    const bucketPrefix = "local:widgets:quota:";
    const bucket = `${bucketPrefix}2026-03:${subject}`;
    this.charges.add({ bucket, bucketPrefix, period: "2026-03", subject, requests: 100 }, requests);
  }

  /** Closes the reporter while every report fails, and advances the clock from timer to timer until it is closed. */
  async closeWhileAuditIsAway(deadlineMs: number): Promise<void> {
    this.responses.push(...Array(100).fill(503));
    let isClosed = false;
    this.reporter.close(deadlineMs).then(() => {
      isClosed = true;
    });
    await waitFor(() => {
      if (!isClosed) this.clock.advance(this.clock.waiting()[0] ?? 0);
      return isClosed;
    });
  }

  /** Advances the clock from timer to timer until the reporter has sent `calls` reports. */
  async until(calls: number): Promise<void> {
    await waitFor(
      () => {
        if (this.sent.length >= calls) return true;
        this.clock.advance(this.clock.waiting()[0] ?? 0);
        return false;
      },
      { what: `${calls} reports` },
    );
  }
}

// GW-188
test("a gateway without usage sends no report, not even when it stops", async () => {
  const bed = new Bed();
  bed.reporter.start();
  for (let n = 0; n < 5; n++) {
    bed.clock.advance(10_000);
    await Promise.resolve();
  }
  await bed.reporter.close(5_000);
  expect(bed.sent).toEqual([]);
  expect(bed.closed).toBe(true);
});

// GW-188
test("reports are numbered from 1, and follow every 10 seconds after the first one", async () => {
  const bed = new Bed();
  bed.use(3);
  bed.reporter.start();
  bed.clock.advance(9_999);
  expect(bed.sent).toEqual([]);
  await bed.until(3);
  expect(bed.sent.map(([number, { counts }]) => [number, counts.length])).toEqual([
    [1, 1],
    [2, 0],
    [3, 0],
  ]);
  expect(bed.sent[0]?.[1]).toMatchObject({ reported_until: "2026-03-04T05:10:10.000Z", is_last: false });
  await bed.reporter.close(5_000);
  expect(bed.sent.at(-1)).toMatchObject([bed.sent.length, { is_last: true, counts: [] }]);
});

// GW-190
test("a report that is not accepted is sent again without a change, before later counts", async () => {
  const bed = new Bed();
  bed.use(2);
  bed.responses.push(new Error("reset"), 503, 401, 404);
  bed.reporter.start();
  await bed.until(1);
  bed.use(5);
  await bed.until(6);
  const [first, ...again] = bed.sent.slice(0, 5);
  expect(again).toEqual(Array(4).fill(first));
  expect(bed.sent[5]?.[0]).toBe(2);
  expect(bed.taken).toBe(7);
  expect(bed.lines).toEqual([
    "the audit service is not accepting usage reports",
    "the audit service accepts usage reports again",
  ]);
  expect(bed.reporter.results).toEqual({ ok: 2, failed: 4, refused: 0 });
});

// GW-189, GW-190
test("a refused report is dropped and logged, and its requests are uncounted in the next report", async () => {
  const bed = new Bed();
  bed.use(4);
  bed.responses.push(422);
  bed.reporter.start();
  await bed.until(2);
  expect(bed.sent[1]).toMatchObject([2, { uncounted: 4, counts: [] }]);
  expect(bed.lines).toEqual(["the audit service refused a usage report"]);
  expect(bed.reporter.results).toMatchObject({ refused: 1 });
});

// GW-188
test("more counts than fit into one report are sent at once in several reports", async () => {
  const bed = new Bed();
  for (let n = 0; n < 2 * USAGE_COUNTS_MAX + 1; n++) bed.use(1, `o${n}`);
  bed.reporter.start();
  bed.clock.advance(10_000);
  await waitFor(() => bed.sent.length === 3);
  expect(bed.sent.map(([, { counts }]) => counts.length)).toEqual([USAGE_COUNTS_MAX, USAGE_COUNTS_MAX, 1]);
});

// GW-191
test("charges to quotas, minus refunds, are reported with the counts, or alone if there are no counts", async () => {
  const bed = new Bed();
  bed.charge(1);
  bed.charge(1);
  bed.charge(-1);
  bed.charge(1, "o2");
  bed.reporter.start();
  await bed.until(1);
  const quota = { policy: "local:widgets:quota", period: "2026-03" };
  expect(bed.sent[0]).toMatchObject([
    1,
    {
      counts: [],
      quotas: [
        { ...quota, subject: "o1", count: 1 },
        { ...quota, subject: "o2", count: 1 },
      ],
    },
  ]);
  await bed.until(2);
  expect(bed.sent[1]?.[1].quotas).toBeUndefined();
});

// GW-191
test("more quotas than fit into one report are sent in several reports, and the last one is marked", async () => {
  const bed = new Bed();
  for (let n = 0; n < 2 * USAGE_QUOTAS_MAX + 1; n++) bed.charge(1, `o${n}`);
  bed.use(1);
  await bed.reporter.close(5_000);
  expect(bed.sent.map(([, { quotas, is_last }]) => [quotas?.length, is_last])).toEqual([
    [USAGE_QUOTAS_MAX, false],
    [USAGE_QUOTAS_MAX, false],
    [1, true],
  ]);
});

describe("a stop", () => {
  // GW-198
  test("retries until its time is over, and then logs that usage is lost", async () => {
    const bed = new Bed();
    bed.use(3);
    await bed.closeWhileAuditIsAway(1_000);
    expect(bed.sent.length).toBeGreaterThanOrEqual(3);
    expect(bed.clock.elapsedMs()).toBeLessThanOrEqual(1_000);
    expect(bed.lines).toEqual(["the gateway lost usage: it is stopping"]);
  });

  // GW-198
  test("counts and logs all requests and charges that it could not report", async () => {
    const bed = new Bed();
    bed.use(3);
    bed.charge(2);
    bed.responses.push(503);
    bed.reporter.start();
    await bed.until(1);
    bed.use(4);
    bed.charge(5, "o2");
    await bed.closeWhileAuditIsAway(5_000);
    expect([bed.counter.uncounted, bed.charges.lost]).toEqual([7, 7]);
    expect(bed.fields.at(-1)).toMatchObject({ requests: 7, charges: 7 });
    expect(bed.reporter.results).toMatchObject({ ok: 0, refused: 0 });
  });
});
