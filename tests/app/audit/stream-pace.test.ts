import { expect, test } from "bun:test";
import { type Clock, systemClock } from "@ostiary/lib/async";
import { waitFor } from "../../support/index.ts";
import { exportProof, writeBatches } from "./proof-bed.ts";
import { callStreams, proven, STREAMS, sharedReceiver, sharedStreamingAudit } from "./streams-bed.ts";

/** The delays that the service requests from {@link clock}. */
const pausesMs: number[] = [];
/** A clock on which work takes no time, so that each delay depends only on the number of entries. */
const clock: Clock = {
  now: systemClock.now,
  elapsedMs: () => 0,
  after(ms, work) {
    pausesMs.push(ms);
    return systemClock.after(ms, work);
  },
};

const receiver = sharedReceiver();
const audit = sharedStreamingAudit([receiver], { clock });

// AU-118
test("a stream that catches up sends at most 5000 entries per second", async () => {
  await writeBatches(audit, 600);
  await exportProof(audit);
  const { id, lag_events } = (
    await callStreams(audit, "POST", STREAMS, { url: receiver.url, from_position: 1 })
  ).body;
  await waitFor(async () => (await callStreams(audit, "GET", `${STREAMS}/${id}`)).body.lag_events === 0);
  expect(proven(receiver).position).toBeGreaterThanOrEqual(lag_events);
  const full = receiver.calls.filter(({ body }) => JSON.parse(body).data.entries.length === 100).length;
  expect(full).toBeGreaterThanOrEqual(10);
  expect(pausesMs.filter((ms) => ms === 20).length).toBeGreaterThanOrEqual(full - 1);
});
