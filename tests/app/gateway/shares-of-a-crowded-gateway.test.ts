/** Tests that one caller cannot use all of MAX_REQUESTS_IN_FLIGHT (GW-167). */

import { afterAll, afterEach, expect, test } from "bun:test";
import { ELSEWHERE, READER, StepsBed, services, USER, WRITER } from "../../support/gateway/steps-bed.ts";
import { headerValue, RawClient, spell } from "../../support/http/raw-http.ts";
import { waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { useGateway } from "./bed.ts";

const MAX = 16;
const HALF = MAX / 2;
const SHARE = MAX / 8;

const bed = new StepsBed();
const clients: RawClient[] = [];
const gateway = useGateway({ ...bed.env, AUDIT_ENABLED: "false", MAX_REQUESTS_IN_FLIGHT: String(MAX) }, () =>
  services(bed.service.url),
);

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await waitFor(async () => (await inFlight()) === 0, { what: "the end of all requests" });
});
afterAll(async () => {
  await bed.stop();
  bed.service.close();
});

const inFlight = () => metricOf(gateway, "gateway_requests_in_flight");

/** Sends the head of a request, but not its body, so that the request stays in flight. */
async function slowBody(target: string, key: string): Promise<RawClient> {
  const client = await RawClient.connect(gateway.url);
  clients.push(client);
  client.send(spell("POST", target, { "X-API-Key": key, "Content-Length": "10" }));
  return client;
}

/**
 * Starts `count` consecutive requests with slow bodies. Returns how many are in flight; the others get 429.
 */
async function hold(target: string, key: string, count: number): Promise<number> {
  let held = 0;
  for (let sent = 0; sent < count; sent += 1) {
    const before = await inFlight();
    const client = await slowBody(target, key);
    await waitFor(async () => client.received.length > 0 || (await inFlight()) > before);
    if (client.received.length === 0) held += 1;
    else expect((await client.response()).status).toBe(429);
  }
  return held;
}

async function statusOf(method: string, target: string, key: string): Promise<number> {
  const client = await RawClient.connect(gateway.url);
  client.send(spell(method, target, { "X-API-Key": key }));
  const { status } = await client.response();
  client.destroy();
  return status;
}

// GW-167
test("a caller with slow bodies can have half of all requests in flight plus its share, and others are served", async () => {
  const before = await metricOf(gateway, "gateway_shares_refused_total");
  expect(await hold("/org/unaudited", WRITER, MAX)).toBe(HALF + SHARE);
  expect((await metricOf(gateway, "gateway_shares_refused_total")) - before).toBe(MAX - HALF - SHARE);
  // The share belongs to the organization, so another member of it is refused too.
  expect(await statusOf("GET", "/org/things", READER)).toBe(429);
  for (let count = 0; count < 10; count += 1) {
    expect(await statusOf("GET", "/org/things", ELSEWHERE)).toBe(200);
    expect(await statusOf("GET", "/user/things/1", USER)).toBe(200);
    expect(await statusOf("GET", "/public", WRITER)).toBe(200);
  }
  expect(await hold("/org/unaudited", ELSEWHERE, SHARE + 3)).toBe(SHARE);
});

// GW-167
test("the 429 has Retry-After and closes the connection", async () => {
  await hold("/org/unaudited", WRITER, HALF + SHARE);
  const client = await slowBody("/org/unaudited", WRITER);
  const { status, headers, body } = await client.response();
  expect(status).toBe(429);
  expect(headerValue(headers, "retry-after")).toBe("1");
  expect(headerValue(headers, "connection")).toBe("close");
  expect(JSON.parse(body.toString()).error).toMatchObject({
    type: "api_error",
    code: "RATE_LIMITED",
    message: "Too many of your requests are in flight. Try again in a moment.",
    details: { retry_after_seconds: 1 },
  });
});
