import { describe, expect, test } from "bun:test";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { startAudit } from "./bed.ts";
import { exportProof, writeEvents } from "./proof-bed.ts";
import {
  callStreams,
  STREAMS,
  sharedReceiver,
  sharedStreamingAudit,
  shortClock,
  startReceiver,
  startStreamingAudit,
  streamVariables,
} from "./streams-bed.ts";

describe("the gauges of streams", () => {
  const [good, bad] = [sharedReceiver(), sharedReceiver()];
  bad.respond = () => new Response(null, { status: 500, headers: { "Retry-After": "3600" } });
  const audit = sharedStreamingAudit([good, bad], { clock: shortClock });

  const call = (method: string, path: string, body?: unknown) => callStreams(audit, method, path, body);

  // AU-107
  test("count streams by status, and show the longest backlog of each status", async () => {
    const create = async (url: string) => (await call("POST", STREAMS, { url, from_position: 1 })).body.id;
    const paused = await create(good.url);
    await call("PATCH", `${STREAMS}/${paused}`, { status: "paused" });
    await writeEvents(audit, 7);
    const { position } = (await exportProof(audit)).end.head;
    const active = await create(good.url);
    await create(bad.url);
    await create(bad.url);
    await waitFor(async () => (await metricOf(audit, 'audit_streams{status="failing"}')) === 2);
    await waitFor(async () => (await metricOf(audit, 'audit_stream_lag_entries{status="active"}')) === 0);
    expect((await call("GET", `${STREAMS}/${active}`)).body.lag_events).toBe(0);
    expect(await metricOf(audit, 'audit_streams{status="active"}')).toBe(1);
    expect(await metricOf(audit, 'audit_streams{status="paused"}')).toBe(1);
    expect(await metricOf(audit, 'audit_stream_lag_entries{status="failing"}')).toBe(position);
    expect(await metricOf(audit, 'audit_stream_lag_entries{status="paused"}')).toBe(
      (await call("GET", `${STREAMS}/${paused}`)).body.lag_events,
    );
    // No stream is ready to deliver: one has delivered all, one is paused, and two back off after a failure.
    expect(await metricOf(audit, "audit_stream_wait_seconds")).toBe(0);
  });
});

// AU-107
test.skipIf(!services().postgres.real)(
  "a service without a stream key shows in its metrics that entries wait for delivery",
  async () => {
    const databaseUrl = await freshDatabase();
    using receiver = startReceiver();
    const before = await startStreamingAudit([receiver.port], { databaseUrl });
    expect((await callStreams(before, "POST", STREAMS, { url: receiver.url })).status).toBe(201);
    await before.stop();
    const { AUDIT_STREAM_KEY_FILE: _, ...env } = streamVariables([receiver.port]);
    await using audit = await startAudit({ databaseUrl, env, clock: shortClock });
    await writeEvents(audit, 3);
    await waitFor(async () => (await metricOf(audit, "audit_stream_wait_seconds")) > 0);
    expect(await metricOf(audit, 'audit_stream_lag_entries{status="active"}')).toBeGreaterThan(0);
    expect(await metricOf(audit, 'audit_streams{status="active"}')).toBe(1);
    expect(receiver.calls).toHaveLength(0);
  },
);
