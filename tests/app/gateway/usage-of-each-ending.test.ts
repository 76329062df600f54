/** Tests the usage that a gateway reports for requests with different results (GW-186 to GW-188). */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { UsageCount } from "@ostiary/lib/contracts/usage-contract";
import { ELSEWHERE, READER, StepsBed, UNKNOWN, USER, WRITER } from "../../support/gateway/steps-bed.ts";
import { rawRequest, spell } from "../../support/http/raw-http.ts";

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

/** Stops the gateway, which then reports all counts. A report that was sent again counts once. */
async function reported(): Promise<UsageCount[]> {
  isClosed = true;
  await bed.gateway.close();
  await bed.stop();
  bed.service.close();
  expect(bed.audit.reports.at(-1)?.report.is_last ?? true).toBe(true);
  const reports = new Map(bed.audit.reports.map(({ number, report }) => [number, report]));
  return [...reports.values()].flatMap(({ counts }) => counts);
}

/** Adds up the counts of each route and member, which can be in several reports. */
function sumsOf(counts: readonly UsageCount[]): Record<string, number[]> {
  const sums: Record<string, number[]> = {};
  for (const { method, route, organization_id, member_id, requests, refused, failed, ...count } of counts) {
    const name = `${method} ${route} of ${organization_id} ${member_id}`;
    const all = [
      requests,
      refused.limit,
      refused.labels,
      refused.other,
      failed,
      count.bytes_in,
      count.bytes_out,
    ];
    sums[name] = all.map((value, at) => value + (sums[name]?.[at] ?? 0));
  }
  return sums;
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
  const sums = Object.entries(sumsOf(counts)).map(([name, all]) => [name, all.slice(0, 5)]);
  // The requests, those that a limit, labels and another reason refused, and those that failed.
  expect(Object.fromEntries(sums)).toEqual({
    "GET /org/things of org1 m1": [4, 0, 0, 0, 1],
    "GET /org/things of org1 m2": [1, 0, 0, 0, 0],
    "GET /member/things of org1 m1": [1, 0, 0, 0, 0],
    "GET /org/limited of org1 m1": [3, 1, 0, 0, 0],
    "POST /org/labelled/{id} of org1 m2": [1, 0, 1, 0, 0],
    "POST /org/param/{id} of org1 m1": [1, 0, 0, 1, 0],
    "GET /dead of org2 m6": [1, 0, 0, 0, 1],
  });
  expect(counts.every(({ hour }) => /^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/.test(hour))).toBe(true);
  expect(counts.some(({ duration_ms }) => duration_ms > 0)).toBe(true);
  expect(new Set(counts.map(({ key_prefix }) => key_prefix))).toEqual(
    new Set(["acme-k-2-writ", "acme-k-2-read", "acme-k-2-else"]),
  );
});

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
  expect(sumsOf(await reported())).toEqual({
    "POST /org/unaudited of org1 m1": [
      ...[4, 0, 0, 0, 0],
      small.length + large.length,
      7 + 7 + large.length + 1_000,
    ],
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
  expect(sumsOf(await reported())).toEqual({ "GET /org/things of org1 m1": [2, 0, 0, 0, 2, 0, 600] });
});
