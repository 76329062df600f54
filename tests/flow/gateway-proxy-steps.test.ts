import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/routes";
import { type LocalGateway, startLocalGateway } from "../support/gateway.ts";
import { waitFor } from "../support/index.ts";
import {
  headerValue,
  headerValues,
  OK,
  RawClient,
  RawUpstream,
  rawRequest,
  spell,
} from "../support/raw-http.ts";
import { type IdentityStandIn, startIdentity } from "../unit/gateway-admission/identity-stand-in.ts";
import { type AuditStandIn, answering, startAudit, taken } from "../unit/gateway-audit/audit-stand-in.ts";

/** The nine steps in their order, and what each ending leaves (Gateway specification, Gateway request handling). */

const key = (name: string) => `acme-k-2-${name.padEnd(43, "0")}`;
const WRITER = key("writer");
const READER = key("reader");
const EVERYTHING = key("everything");
const LABELLESS = key("labelless");
const HOSTILE = key("hostile");
const USER = key("user");
const ELSEWHERE = key("elsewhere");

const service = new RawUpstream();
let identity: IdentityStandIn;
let audit: AuditStandIn;
let gateway: LocalGateway;

const organization = (member_id: string, labels: string[] | undefined, organization_id = "org1") => ({
  valid: true,
  realm: "organization",
  organization_id,
  member_id,
  labels,
});

const services = (): Record<string, StoredServiceConfig> => ({
  things: {
    url: service.url,
    rate_limits: { two: { requests: 2, window_seconds: 60 } },
    public: { routes: [{ path: "/public", methods: ["GET", "POST"] }] },
    user: {
      routes: [
        {
          path: "/user/things/{thing_id}",
          upstream: "/users/{subject.user_id}/things/{path.thing_id}",
          methods: ["GET", "POST"],
        },
        { path: "/user/labelled", methods: ["GET"], required_labels: ["never"] },
      ],
    },
    organization: {
      routes: [
        {
          path: "/org/things",
          upstream: "/organizations/{subject.organization_id}/things",
          methods: ["GET", "POST", "DELETE"],
        },
        { path: "/org/labelled/{id}", methods: ["GET", "POST"], required_labels: ["things:write", "admin"] },
        { path: "/org/limited", methods: ["GET"], rate_limit: "two", required_labels: ["things:write"] },
        { path: "/org/param/{id}", upstream: "/x/{path.id}", methods: ["POST"] },
        { path: "/org/audited", methods: ["GET"], audit: true },
        { path: "/org/unaudited", methods: ["POST"], audit: false },
      ],
    },
    member: {
      routes: [
        {
          path: "/member/things",
          upstream: "/organizations/{subject.organization_id}/members/{subject.member_id}/things",
          methods: ["GET", "POST"],
        },
      ],
    },
  },
  dead: {
    url: "http://127.0.0.1:9",
    organization: { routes: [{ path: "/dead", methods: ["GET", "POST"] }] },
  },
});

beforeAll(async () => {
  identity = startIdentity();
  audit = startAudit();
  identity.results.set(WRITER, organization("m1", ["things:write", "things:read"]));
  identity.results.set(READER, organization("m2", ["things:read"]));
  identity.results.set(EVERYTHING, organization("m3", ["*"]));
  identity.results.set(LABELLESS, organization("m4", undefined));
  identity.results.set(HOSTILE, organization("m/../5", ["*"], "org?1"));
  identity.results.set(ELSEWHERE, organization("m6", ["*"], "org2"));
  identity.results.set(USER, { valid: true, realm: "directory", user_id: "u1" });
  gateway = await startLocalGateway({
    CREDENTIAL_VALIDATE_URL: identity.url,
    AUDIT_ENABLED: "true",
    AUDIT_URL: audit.url,
    UPSTREAM_TIMEOUT_MS: "300",
    MAX_BODY_BYTES: "100000",
  });
  await gateway.publish(services());
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([identity.stop(), audit.stop()]);
  service.close();
});

afterEach(() => {
  service.requests.length = 0;
  service.handler = () => OK;
  audit.writes.length = 0;
  audit.answer = taken;
});

function call(method: string, target: string, credential: string | null, body = "") {
  const headers = [
    ...(credential === null ? [] : [["X-API-Key", credential] as const]),
    ...(body === "" ? [] : [["Content-Length", String(body.length)] as const]),
  ];
  return rawRequest(gateway.url, spell(method, target, headers, body));
}

function codeOf(response: { body: Buffer }): string {
  return JSON.parse(response.body.toString()).error.code;
}

/** The outcomes of the event that this test has caused. */
function outcomes() {
  const event = audit.of("PUT").at(-1)?.path;
  return audit.of("PATCH").filter((write) => write.path === event);
}

function outcome() {
  return waitFor(() => outcomes()[0]?.body, { what: "An audit outcome" });
}

describe("the owner's ids stand in the path of the service", () => {
  const table: [target: string, credential: string, called: string][] = [
    ["/user/things/7?a=b", USER, "/users/u1/things/7?a=b"],
    ["/org/things", WRITER, "/organizations/org1/things"],
    ["/member/things", WRITER, "/organizations/org1/members/m1/things"],
  ];
  for (const [target, credential, called] of table) {
    test(`${target} → ${called}`, async () => {
      expect((await call("GET", target, credential)).status).toBe(200);
      expect(service.request.target).toBe(called);
    });
  }

  test("500 for an owner's id that is not one segment, and the service is not called", async () => {
    for (const target of ["/org/things", "/member/things"]) {
      const response = await call("GET", target, HOSTILE);
      expect(response.status).toBe(500);
      expect(JSON.parse(response.body.toString())).toMatchObject({
        error: {
          type: "api_error",
          code: "INTERNAL_ERROR",
          message: "An unexpected error occurred.",
          details: null,
        },
      });
    }
    expect(service.requests).toEqual([]);
  });
});

describe("a label of the route, or every one", () => {
  const table: [name: string, credential: string, status: number][] = [
    ["one of the labels", WRITER, 200],
    ["*", EVERYTHING, 200],
    ["other labels", READER, 403],
    ["a missing list", LABELLESS, 403],
  ];
  for (const [name, credential, status] of table) {
    test(`${status} for a member with ${name}`, async () => {
      const response = await call("GET", "/org/labelled/1", credential);
      expect(response.status).toBe(status);
      expect(service.requests.length).toBe(status === 200 ? 1 : 0);
    });
  }

  test("403 names the route and its labels", async () => {
    const response = await call("GET", "/org/labelled/1", READER);
    expect(JSON.parse(response.body.toString())).toEqual({
      error: {
        type: "invalid_request_error",
        code: "FORBIDDEN",
        message: "You do not have permission to do that.",
        request_id: headerValue(response.headers, "x-request-id"),
        details: {
          permission: "required_labels",
          resource: "route",
          resource_id: "/org/labelled/{id}",
          required_labels: ["things:write", "admin"],
        },
      },
    });
  });

  test("no labels are needed where the route names none", async () => {
    expect((await call("GET", "/org/things", LABELLESS)).status).toBe(200);
  });

  test("users are never checked", async () => {
    expect((await call("GET", "/user/labelled", USER)).status).toBe(200);
  });
});

describe("401 keeps the steps after it from running", () => {
  const table: [name: string, target: string, credential: string | null][] = [
    ["no credential", "/org/things", null],
    ["a malformed key", "/org/things", "nonsense"],
    ["an unknown key", "/org/things", key("unknown")],
    ["a user's key on an organization route", "/org/things", USER],
    ["a member's key on a user route", "/user/things/1", WRITER],
    ["a param that is refused, before it is looked at", "/org/param/a%2fb", null],
  ];
  for (const [name, target, credential] of table) {
    test(name, async () => {
      const response = await call("POST", target, credential);
      expect(response.status).toBe(401);
      expect(codeOf(response)).toBe("UNAUTHORIZED");
      expect(headerValues(response.headers, "x-ratelimit-limit")).toEqual([]);
      expect(service.requests).toEqual([]);
      expect(audit.writes).toEqual([]);
    });
  }
});

test("the limit stands before the labels: a 403 counts, and says so", async () => {
  const statuses: number[] = [];
  for (let request = 0; request < 3; request++) {
    const response = await call("GET", "/org/limited", READER);
    statuses.push(response.status);
    expect(headerValue(response.headers, "x-ratelimit-limit")).toBe("2");
    expect(headerValue(response.headers, "x-ratelimit-remaining")).toBe(String(Math.max(0, 1 - request)));
    const reset = Number(headerValue(response.headers, "x-ratelimit-reset"));
    expect(reset).toBeGreaterThan(Date.now() / 1000);
    expect(reset).toBeLessThanOrEqual(Date.now() / 1000 + 61);
  }
  expect(statuses).toEqual([403, 403, 429]);
});

test("429 carries Retry-After and its details, and leaves no event", async () => {
  let response = await call("GET", "/org/limited", ELSEWHERE);
  while (response.status !== 429) response = await call("GET", "/org/limited", ELSEWHERE);
  const retry = Number(headerValue(response.headers, "retry-after"));
  expect(retry).toBeGreaterThanOrEqual(1);
  expect(JSON.parse(response.body.toString()).error).toEqual({
    type: "api_error",
    code: "RATE_LIMITED",
    message: "Too many requests. Try again in a moment.",
    request_id: headerValue(response.headers, "x-request-id"),
    details: { retry_after_seconds: retry },
  });
  expect(audit.writes).toEqual([]);
});

test("an unlimited route has no rate-limit headers", async () => {
  const response = await call("GET", "/org/things", WRITER);
  expect(response.headers.filter(([name]) => /ratelimit|retry-after/i.test(name))).toEqual([]);
});

describe("which requests leave an event", () => {
  const table: [method: string, target: string, credential: string | null, audited: boolean][] = [
    ["POST", "/public", null, false],
    ["GET", "/org/things", WRITER, false],
    ["POST", "/org/things", WRITER, true],
    ["DELETE", "/org/things", WRITER, true],
    ["GET", "/org/audited", WRITER, true],
    ["POST", "/org/unaudited", WRITER, false],
    ["POST", "/user/things/1", USER, true],
    ["POST", "/member/things", WRITER, true],
    ["OPTIONS", "/org/things", WRITER, false],
  ];
  for (const [method, target, credential, audited] of table) {
    test(`${method} ${target}: ${audited ? "yes" : "no"}`, async () => {
      const response = await call(method, target, credential);
      expect(response.status).toBe(method === "OPTIONS" ? 204 : 200);
      if (audited) await outcome();
      expect(audit.of("PUT").length).toBe(audited ? 1 : 0);
    });
  }
});

test("the intent stands before the service is called, and says who, what and where", async () => {
  let known = 0;
  service.handler = () => {
    known = audit.of("PUT").length;
    return OK;
  };
  const request = spell("POST", "/org/labelled/7?token=secret", [
    ["X-API-Key", WRITER],
    ["User-Agent", "x".repeat(600)],
  ]);
  const response = await rawRequest(gateway.url, request);
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

test("503 when the intent can not be written: the service is not called", async () => {
  audit.answer = answering(503);
  const response = await call("POST", "/org/things", WRITER);
  expect(response.status).toBe(503);
  expect(codeOf(response)).toBe("SERVICE_UNAVAILABLE");
  expect(service.requests).toEqual([]);
});

describe("each ending has its outcome", () => {
  const nothing = { details: null, created_id: null, organization_id: null, member_id: null };

  test("responded, with what the service said of itself, which the client does not see", async () => {
    service.handler = () =>
      'HTTP/1.1 201 Created\r\nX-Platform-Audit-Details: {"a":1}\r\nX-Platform-Audit-Created: w1\r\nContent-Length: 0\r\n\r\n';
    const response = await call("POST", "/org/things", WRITER);
    expect(response.status).toBe(201);
    expect(response.head).not.toMatch(/audit/i);
    expect(await outcome()).toEqual({
      ...nothing,
      outcome: "responded",
      status: 201,
      details: { a: 1 },
      created_id: "w1",
    });
  });

  test("responded, with the service's error", async () => {
    service.handler = () => "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
    await call("POST", "/org/things", WRITER);
    expect(await outcome()).toMatchObject({ outcome: "responded", status: 500 });
  });

  test("rejected 403 for labels", async () => {
    expect((await call("POST", "/org/labelled/1", READER)).status).toBe(403);
    expect(await outcome()).toMatchObject({ outcome: "rejected", status: 403 });
  });

  test("rejected 400 for a param", async () => {
    expect((await call("POST", "/org/param/a%2fb", WRITER)).status).toBe(400);
    expect(await outcome()).toMatchObject({ outcome: "rejected", status: 400 });
  });

  test("rejected 500 for an owner's id", async () => {
    expect((await call("POST", "/org/things", HOSTILE)).status).toBe(500);
    expect(await outcome()).toMatchObject({ outcome: "rejected", status: 500 });
  });

  test("rejected 413 for a length known to be too large", async () => {
    const request = spell("POST", "/org/things", { "X-API-Key": WRITER, "Content-Length": "100001" });
    expect((await rawRequest(gateway.url, request)).status).toBe(413);
    expect(await outcome()).toMatchObject({ outcome: "rejected", status: 413 });
  });

  test("no_response 413 for a body that turns out too large, since the service had been called", async () => {
    const chunk = `ffff\r\n${"x".repeat(65_535)}\r\n`;
    const request = spell(
      "POST",
      "/org/things",
      { "X-API-Key": WRITER, "Transfer-Encoding": "chunked" },
      `${chunk}${chunk}0\r\n\r\n`,
    );
    expect((await rawRequest(gateway.url, request)).status).toBe(413);
    expect(await outcome()).toMatchObject({ outcome: "no_response", status: 413 });
  });

  test("no_response 502 for a service that can not be reached", async () => {
    const response = await call("POST", "/dead", WRITER);
    expect(response.status).toBe(502);
    expect(JSON.parse(response.body.toString()).error).toMatchObject({
      type: "api_error",
      code: "SERVICE_UNAVAILABLE",
      message: "Service temporarily unavailable.",
    });
    expect(await outcome()).toMatchObject({ outcome: "no_response", status: 502 });
  });

  test("no_response 502 for a service that takes too long", async () => {
    service.handler = () => null;
    expect((await call("POST", "/org/things", WRITER)).status).toBe(502);
    expect(await outcome()).toMatchObject({ outcome: "no_response", status: 502 });
  });

  test("no_response without a status for a client that left", async () => {
    const reached = Promise.withResolvers<void>();
    service.handler = () => {
      reached.resolve();
      return null;
    };
    const client = await RawClient.connect(gateway.url);
    client.send(spell("POST", "/org/things", { "X-API-Key": WRITER }));
    await reached.promise;
    client.destroy();
    expect(await outcome()).toMatchObject({ outcome: "no_response", status: null });
  });

  test("exactly one outcome, whatever happens after it", async () => {
    service.handler = (_, socket) => {
      socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
      setTimeout(() => socket.end(), 20);
      return null;
    };
    expect((await call("POST", "/org/things", WRITER)).complete).toBe(false);
    expect(await outcome()).toMatchObject({ outcome: "responded", status: 200 });
    await gateway.logOf(audit.of("PUT")[0]?.path.split("/").at(-1) ?? "");
    expect(outcomes().length).toBe(1);
  });
});

test("unmatched requests and 401s of one address end in 429, admitted ones never", async () => {
  const strict = await startLocalGateway({
    CREDENTIAL_VALIDATE_URL: identity.url,
    RATE_LIMIT_AUTH_FAILURE_REQUESTS: "2",
  });
  try {
    await strict.routes.put("edge/gateway/routes/things", JSON.stringify(services().things));
    const ask = (target: string, credential: string) =>
      rawRequest(strict.url, spell("GET", target, { "X-API-Key": credential }));
    await waitFor(async () => (await ask("/org/things", WRITER)).status === 200);
    // other 404s of this address may have been counted while the routes were loading
    const refused = await waitFor(async () => {
      const response = await ask("/nowhere", WRITER);
      return response.status === 429 && response;
    });
    expect(Number(headerValue(refused.headers, "retry-after"))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.filter(([name]) => /x-ratelimit/i.test(name))).toEqual([]);
    expect((await ask("/org/things", "nonsense")).status).toBe(429);
    expect((await ask("/org/things", WRITER)).status).toBe(200);
  } finally {
    await strict.close();
  }
});
