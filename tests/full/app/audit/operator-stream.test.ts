import { describe, expect, test } from "bun:test";
import { complete, isSetUp, newReceiver, provenOf, startWith } from "../../../app/audit/operator-bed.ts";
import { writeEvents } from "../../../app/audit/proof-bed.ts";
import { shortClock } from "../../../app/audit/streams-bed.ts";
import { waitFor } from "../../../support/index.ts";
import { metricOf } from "../../../support/telemetry/metrics.ts";

describe("the operator's stream", () => {
  // AU-111
  test("retries failed deliveries in the same order, and does not stop after a 410", async () => {
    const receiver = newReceiver();
    const audit = await startWith(receiver);
    await isSetUp(audit, receiver);
    const statuses = [410, 500];
    let calls = 0;
    receiver.respond = () =>
      new Response(null, { status: statuses[calls++] ?? 200, headers: { "Retry-After": "0" } });
    receiver.calls.length = 0;
    await writeEvents(audit, 6, { organization_id: "a" });
    await writeEvents(audit, 6, { organization_id: "b" });
    await waitFor(() => calls > statuses.length);
    receiver.calls.splice(0, statuses.length);
    await complete(audit, receiver, ["a", "b"]);
    expect(provenOf(receiver, "a").entries.map(({ position }) => position)).toEqual(
      Array.from({ length: 11 }, (_, n) => n + 1),
    );
  });

  // AU-113
  test("has metrics for its lag and for failed deliveries", async () => {
    const receiver = newReceiver();
    const audit = await startWith(receiver, { clock: shortClock });
    await isSetUp(audit, receiver);
    const gauge = (name: string) => metricOf(audit, name);
    await waitFor(async () => (await gauge("audit_operator_stream_lag_seconds")) === 0);
    receiver.respond = () => new Response(null, { status: 500, headers: { "Retry-After": "3600" } });
    await writeEvents(audit, 2, { organization_id: "a" });
    await waitFor(async () => (await gauge("audit_operator_stream_lag_seconds")) > 0);
    await waitFor(async () => (await gauge("audit_operator_stream_failures")) === 1);
  });
});
