/** Tests the usage that a gateway reports for requests with different results (GW-186 to GW-188). */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { UsageCount } from "@ostiary/lib/contracts/usage";
import { ELSEWHERE, READER, StepsBed, UNKNOWN, USER, WRITER } from "../../support/gateway/steps-bed.ts";
import { rawRequest, spell } from "../../support/http/raw-http.ts";

setDefaultTimeout(60_000);

let bed: StepsBed;
let isClosed = false;
beforeEach(async () => {
  bed = new StepsBed();
  isClosed = false;
  await bed.start();
});
afterEach(async () => {
  if (!isClosed) await bed.close();
});

/**
 * Stops the gateway, which then reports all counts. Returns the sums of all reports. A report that was sent
 * again counts once.
 */
async function reported() {
  isClosed = true;
  await bed.gateway.close();
  await bed.stop();
  bed.service.close();
  expect(bed.audit.reports.at(-1)?.report.is_last ?? true).toBe(true);
  const reports = new Map(bed.audit.reports.map(({ number, report }) => [number, report]));
  const names = ["organization_id", "hour", "service", "route", "method", "member_id", "key_prefix"] as const;
  const all = [...reports.values()].flatMap(({ counts }) => counts);
  const groups = Map.groupBy(all, (count) => JSON.stringify(names.map((name) => count[name])));
  return Array.from(groups.values(), (group) => group.reduce(sumOf));
}

function sumOf(a: UsageCount, b: UsageCount): UsageCount {
  return {
    ...a,
    requests: a.requests + b.requests,
    refused: {
      limit: a.refused.limit + b.refused.limit,
      labels: a.refused.labels + b.refused.labels,
      other: a.refused.other + b.refused.other,
    },
    failed: a.failed + b.failed,
    bytes_in: a.bytes_in + b.bytes_in,
    bytes_out: a.bytes_out + b.bytes_out,
    duration_ms: a.duration_ms + b.duration_ms,
  };
}

const call = (method: string, target: string, credential: string | null) =>
  bed.call(method, target, credential);

// GW-186, GW-187
test("each request of an organization is counted once by route and credential, however it ends", async () => {
  for (let n = 0; n < 3; n++) await call("GET", "/org/things?page=2", WRITER);
  await call("GET", "/org/things", READER);
  await call("GET", "/member/things", WRITER);
  for (const status of [200, 200, 429])
    expect((await call("GET", "/org/limited", WRITER)).status).toBe(status);
  expect((await call("POST", "/org/labelled/7", READER)).status).toBe(403);
  expect((await call("POST", "/org/param/a%2fb", WRITER)).status).toBe(400);
  expect((await call("GET", "/dead", ELSEWHERE)).status).toBe(502);
  bed.service.handler = () => "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
  expect((await call("GET", "/org/things", WRITER)).status).toBe(500);
  for (const [method, target, credential] of [
    ["GET", "/public", null],
    ["GET", "/user/things/1", USER],
    ["GET", "/org/things", UNKNOWN],
    ["GET", "/nowhere", WRITER],
    ["OPTIONS", "/org/things", WRITER],
  ] as const)
    await call(method, target, credential);
  const counts = await reported();
  const row = (organization_id: string, member_id: string, method: string, route: string) => ({
    organization_id,
    member_id,
    method,
    route,
  });
  const shown = counts.map(
    ({ organization_id, member_id, method, route, requests, refused, failed, service }) => ({
      ...row(organization_id, member_id, method, route),
      ...{ service, requests, refused, failed },
    }),
  );
  const none = { limit: 0, labels: 0, other: 0 };
  const things = { service: "things", refused: none, failed: 0 };
  expect(shown.toSorted(byRoute)).toEqual(
    [
      { ...row("org1", "m1", "GET", "/org/things"), ...things, requests: 4, failed: 1 },
      { ...row("org1", "m2", "GET", "/org/things"), ...things, requests: 1 },
      { ...row("org1", "m1", "GET", "/member/things"), ...things, requests: 1 },
      { ...row("org1", "m1", "GET", "/org/limited"), ...things, requests: 3, refused: { ...none, limit: 1 } },
      {
        ...row("org1", "m2", "POST", "/org/labelled/{id}"),
        ...things,
        requests: 1,
        refused: { ...none, labels: 1 },
      },
      {
        ...row("org1", "m1", "POST", "/org/param/{id}"),
        ...things,
        requests: 1,
        refused: { ...none, other: 1 },
      },
      { ...row("org2", "m6", "GET", "/dead"), service: "dead", requests: 1, refused: none, failed: 1 },
    ].toSorted(byRoute),
  );
  expect(counts.every(({ hour }) => /^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/.test(hour))).toBe(true);
  expect(counts.some(({ duration_ms }) => duration_ms > 0)).toBe(true);
  expect(new Set(counts.map(({ key_prefix }) => key_prefix))).toEqual(
    new Set(["acme-k-2-writ", "acme-k-2-read", "acme-k-2-else"]),
  );
});

function byRoute(a: { route: string; member_id: string }, b: { route: string; member_id: string }): number {
  return `${a.route} ${a.member_id}` < `${b.route} ${b.member_id}` ? -1 : 1;
}

// GW-187
test("bytes of bodies are counted in both directions, for small, large and chunked bodies", async () => {
  const small = "x".repeat(100);
  const large = "y".repeat(90_000);
  const post = (body: string) =>
    rawRequest(
      bed.gateway.url,
      `${spell("POST", "/org/unaudited", [
        ["X-API-Key", WRITER],
        ["Content-Length", String(body.length)],
      ])}${body}`,
    );
  bed.service.handler = () => "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n1234567";
  await post(small);
  await post(large);
  bed.service.handler = () => `HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n\r\n${large}`;
  await post("");
  bed.service.handler = () =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n${"z".repeat(1_000)}\r\n0\r\n\r\n`;
  await post("");
  const [count, ...others] = await reported();
  expect(others).toEqual([]);
  expect(count).toMatchObject({
    requests: 4,
    bytes_in: small.length + large.length,
    bytes_out: 7 + 7 + large.length + 1_000,
    failed: 0,
  });
});

// GW-187
test("requests whose response bodies break off count as failed, with the bytes that reached the client", async () => {
  const heads = ["Content-Length: 100000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n12c\r\n"];
  for (const head of heads) {
    bed.service.handler = (_, socket) => {
      socket.send(`HTTP/1.1 200 OK\r\n${head}${"x".repeat(300)}`);
      setTimeout(() => socket.end(), 20);
      return null;
    };
    const response = await call("GET", "/org/things", WRITER);
    expect([response.status, response.complete]).toEqual([200, false]);
  }
  expect(await reported()).toMatchObject([
    { requests: 2, failed: 2, refused: { limit: 0, labels: 0, other: 0 }, bytes_in: 0, bytes_out: 600 },
  ]);
});
