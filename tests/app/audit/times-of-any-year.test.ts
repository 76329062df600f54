/** Tests each time that a caller of audit can give: its years and its offsets. */
import { describe, expect, test } from "bun:test";
import { ulid } from "ulid";
import { intent, requestId } from "./bed.ts";
import { callStreams, STREAMS, sharedStreamingAudit } from "./streams-bed.ts";

const audit = sharedStreamingAudit([]);

const get = (path: string) => (time: string) => audit.get(`${path}${encodeURIComponent(time)}`);
const log = `/organizations/${ulid()}/audit-events`;
const usage = `/organizations/${ulid()}/usage`;

/**
 * Each field, with a call that gives it a time. The number is the status for a time of any year; null is for fields
 * whose times must be near the present or each other.
 */
const fields: [
  field: string,
  call: (time: string) => Promise<{ status: number; text: string }>,
  wide: number | null,
][] = [
  ["occurred_after", called(get(`${log}?occurred_after=`)), 200],
  ["occurred_before", called(get(`${log}?occurred_before=`)), 200],
  ["occurred_after", called(get(`${log}/export?format=ndjson&occurred_after=`)), 200],
  ["from", called(get(`${usage}?from=`)), null],
  ["to", called(get(`${usage}?to=`)), null],
  ["starting_after", called(get(`${usage}?by=hour&starting_after=`)), 200],
  ["starting_after", called(get(`${usage}?by=day&starting_after=`)), 200],
  ["from_time", streamFrom, 201],
  ["occurred_at", called((time) => audit.put(requestId(), intent({ occurred_at: time }))), null],
  ["reported_until", called(reported), null],
];

function called(call: (time: string) => Promise<Response>) {
  return async (time: string) => {
    const response = await call(time);
    return { status: response.status, text: await response.text() };
  };
}

async function streamFrom(time: string) {
  const path = STREAMS.replace("organization-1", ulid());
  const body = { url: "https://siem.example.com/hook", from_time: time };
  const response = await callStreams(audit, "POST", path, body);
  return { status: response.status, text: JSON.stringify(response.body) };
}

function reported(reported_until: string): Promise<Response> {
  const body = { reported_until, is_last: true, uncounted: 0, counts: [] };
  return audit.send("PUT", `usage/gateway-${ulid()}/1`, body);
}

/** Returns the current time, written with this offset. */
function nowAt(offset: string): string {
  const now = Temporal.Now.instant().round("second");
  return now.toString({ timeZone: offset });
}

// ER-25
describe.each(fields)("%s", (field, call, wide) => {
  test.each(["0000-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-00:01"])(
    "is 422 for %s, a time of another year than 1 to 9999 in UTC",
    async (time) => {
      const { status, text } = await call(time);
      expect([status, text]).toEqual([422, expect.stringContaining(`"path":"${field}"`)]);
    },
  );

  test.each(["0001-01-01T00:00:00Z", "9999-12-31T23:59:59+23:59"])("is read in %s", async (time) => {
    expect((await call(time)).status).toBeOneOf(wide === null ? [200, 201, 422] : [wide]);
  });

  test.each(["+23:59", "-16:00"])("is read with the offset %s", async (offset) => {
    expect((await call(nowAt(offset))).status).toBeOneOf([200, 201]);
  });
});
