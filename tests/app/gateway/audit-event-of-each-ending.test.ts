/**
 * Tests which requests are audited, and the outcome for each way a request can end (GW-134, GW-142 to
 * GW-144).
 */
import { describe, expect, test } from "bun:test";
import { responding } from "../../support/gateway/audit-stand-in.ts";
import { codeOf, HOSTILE, READER, StepsBed, USER, WRITER } from "../../support/gateway/steps-bed.ts";
import {
  headerValue,
  OK,
  RawClient,
  type RawResponse,
  rawRequest,
  spell,
} from "../../support/http/raw-http.ts";
import { useBed } from "./bed.ts";

const bed = useBed(new StepsBed());
const { service, audit } = bed;
const call = bed.call.bind(bed);

// GW-134
describe("the route and the method decide if a request is audited:", () => {
  const table: [method: string, target: string, audited: boolean, credential: string | null][] = [
    ["POST", "/public", false, null],
    ["GET", "/org/things", false, WRITER],
    ["POST", "/org/things", true, WRITER],
    ["GET", "/org/audited", true, WRITER],
    ["POST", "/org/unaudited", false, WRITER],
    ["POST", "/user/things/1", true, USER],
    ["POST", "/member/things", true, WRITER],
    ["OPTIONS", "/org/things", false, WRITER],
  ];
  test.each(table)("%s %s: %p", async (method, target, audited, credential) => {
    const response = await call(method, target, credential);
    expect(response.status).toBe(method === "OPTIONS" ? 204 : 200);
    if (audited) await bed.outcome();
    expect(audit.of("PUT").length).toBe(audited ? 1 : 0);
  });
});

// GW-1, GW-2, GW-136
test("the intent is stored before the service is called, with actor, route, params and address", async () => {
  let known = 0;
  service.handler = () => {
    known = audit.of("PUT").length;
    return OK;
  };
  const request = spell("POST", "/org/labelled/7?token=secret", [
    ["X-API-Key", WRITER],
    ["User-Agent", "x".repeat(600)],
  ]);
  const response = await rawRequest(bed.gateway.url, request);
  expect(known).toBe(1);
  const [intent] = audit.of("PUT");
  expect(intent?.path).toBe(`/internal/events/${headerValue(response.headers, "x-request-id")}`);
  expect(intent?.body).toEqual({
    occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    organization_id: "org1",
    user_id: null,
    actor: { member_id: "m1", auth_type: "member_apikey", key_prefix: "acme-k-2-writ" },
    service: "things",
    method: "POST",
    route: "/org/labelled/{id}",
    params: { id: "7" },
    ip: "127.0.0.1",
    user_agent: "x".repeat(512),
  });
});

// GW-2, GW-139
test("a request is 503 if its intent cannot be written, and the service is not called", async () => {
  audit.respond = responding(503);
  const response = await call("POST", "/org/things", WRITER);
  expect(response.status).toBe(503);
  expect(codeOf(response)).toBe("SERVICE_UNAVAILABLE");
  expect(service.requests).toEqual([]);
});

describe("the outcome of a request is", () => {
  const nothing = { details: null, created_id: null, organization_id: null, member_id: null };

  // GW-95, GW-143, GW-149, GW-150
  test("responded, with the service's audit note, which the client does not see", async () => {
    service.handler = () =>
      'HTTP/1.1 201 Created\r\nX-Platform-Audit-Details: {"a":1}\r\nX-Platform-Audit-Created: w1\r\nContent-Length: 0\r\n\r\n';
    const response = await call("POST", "/org/things", WRITER);
    expect(response.status).toBe(201);
    expect(response.head).not.toMatch(/audit/i);
    expect(await bed.outcome()).toEqual({
      ...nothing,
      outcome: "responded",
      status: 201,
      details: { a: 1 },
      created_id: "w1",
    });
  });

  // GW-142, GW-143
  test.each<[outcome: string, status: number, why: string, request: () => Promise<RawResponse>]>([
    [
      "responded",
      500,
      "the service's error",
      () => {
        service.handler = () => "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
        return call("POST", "/org/things", WRITER);
      },
    ],
    ["rejected", 403, "labels", () => call("POST", "/org/labelled/1", READER)],
    ["rejected", 400, "a param", () => call("POST", "/org/param/a%2fb", WRITER)],
    ["rejected", 500, "an owner's id", () => call("POST", "/org/things", HOSTILE)],
    [
      "rejected",
      413,
      "a Content-Length that is too large",
      () => {
        const headers = { "X-API-Key": WRITER, "Content-Length": "100001" };
        return rawRequest(bed.gateway.url, spell("POST", "/org/things", headers));
      },
    ],
  ])("%s %i for %s", async (outcome, status, _, request) => {
    expect((await request()).status).toBe(status);
    expect(await bed.outcome()).toMatchObject({ outcome, status });
  });

  // GW-144
  test("no_response 413 for a body that turns out too large after the service was called", async () => {
    const chunk = `ffff\r\n${"x".repeat(65_535)}\r\n`;
    const request = spell(
      "POST",
      "/org/things",
      { "X-API-Key": WRITER, "Transfer-Encoding": "chunked" },
      `${chunk}${chunk}0\r\n\r\n`,
    );
    expect((await rawRequest(bed.gateway.url, request)).status).toBe(413);
    expect(await bed.outcome()).toMatchObject({ outcome: "no_response", status: 413 });
  });

  // GW-144
  test("no_response 502 for a service that cannot be reached", async () => {
    const response = await call("POST", "/dead", WRITER);
    expect(response.status).toBe(502);
    expect(JSON.parse(response.body.toString()).error).toMatchObject({
      type: "api_error",
      code: "SERVICE_UNAVAILABLE",
      message: "Service temporarily unavailable.",
    });
    expect(await bed.outcome()).toMatchObject({ outcome: "no_response", status: 502 });
  });

  // GW-144
  test("no_response without a status if the client disconnects", async () => {
    const reached = Promise.withResolvers<void>();
    service.handler = () => {
      reached.resolve();
      return null;
    };
    const client = await RawClient.connect(bed.gateway.url);
    client.send(spell("POST", "/org/things", { "X-API-Key": WRITER }));
    await reached.promise;
    client.destroy();
    expect(await bed.outcome()).toMatchObject({ outcome: "no_response", status: null });
  });

  // GW-141
  test("written once, even if the response breaks off later", async () => {
    service.handler = (_, socket) => {
      socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
      setTimeout(() => socket.end(), 20);
      return null;
    };
    expect((await call("POST", "/org/things", WRITER)).complete).toBe(false);
    expect(await bed.outcome()).toMatchObject({ outcome: "responded", status: 200 });
    await bed.gateway.logOf(audit.of("PUT")[0]?.path.split("/").at(-1) ?? "");
    expect(bed.outcomes().length).toBe(1);
  });
});
