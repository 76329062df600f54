/** Tests the gateway's log lines, metrics and health (OP-37). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { openCounterStore } from "@ostiary/lib/runtime/stores/counter-store";
import { publicService, startLocalGateway } from "../../support/gateway/gateway.ts";
import { member, person, startIdentity } from "../../support/gateway/identity-stand-in.ts";
import { headerValue, RawClient, rawRequest, spell } from "../../support/http/raw-http.ts";
import { waitFor } from "../../support/index.ts";
import { useGateway, useService } from "./bed.ts";

const MEMBER_KEY = `acme-k-2-${"a".repeat(43)}`;
const SESSION = `acme-s-2-${"b".repeat(43)}`;
const USER_KEY = `acme-k-2-${"c".repeat(43)}`;
const UNKNOWN_KEY = `acme-k-2-${"d".repeat(43)}`;

const service = useService();
const identity = startIdentity();

const things: StoredServiceConfig = {
  url: service.url,
  public: { routes: [{ path: "/public/{id}", methods: ["GET", "POST"] }] },
  user: { routes: [{ path: "/user/{id}", methods: ["GET"] }] },
  organization: { routes: [{ path: "/org/{id}", methods: ["GET"] }] },
};

const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
  "sign",
  "verify",
]);
const publicKeys = [
  { ...(await crypto.subtle.exportKey("jwk", pair.publicKey)), kid: "1", alg: "ES256", use: "sig" },
];

beforeAll(() => {
  identity.results.set(MEMBER_KEY, member());
  identity.results.set(SESSION, member({ expires_at: new Date(Date.now() + 3_600_000).toISOString() }));
  identity.results.set(USER_KEY, person());
});
afterAll(() => identity.stop());

const gateway = useGateway(
  { CREDENTIAL_VALIDATE_URL: identity.url, UPSTREAM_TIMEOUT_MS: "200", UPSTREAM_IDLE_TIMEOUT_MS: "200" },
  () => ({ things, dead: publicService("http://127.0.0.1:9", { path: "/dead", methods: ["GET"] }) }),
);

async function lineOf(bytes: string) {
  const response = await rawRequest(gateway.url, bytes);
  return gateway.logOf(headerValue(response.headers, "x-request-id") ?? "");
}

const common = {
  level: "info",
  message: "request completed",
  service: "gateway",
  timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  duration_ms: expect.any(Number),
  request_id: expect.any(String),
};

// OP-37, OP-38, OP-40
describe("each request has one line with exactly these fields:", () => {
  const table: [name: string, bytes: string, fields: Record<string, unknown>][] = [
    [
      "a public route",
      spell("GET", "/public/1?q=secret"),
      { route: "/public/{id}", method: "GET", status: 200 },
    ],
    [
      "a member's key",
      spell("GET", "/org/1", { "X-API-Key": MEMBER_KEY }),
      {
        route: "/org/{id}",
        method: "GET",
        status: 200,
        organization_id: "o1",
        member_id: "m1",
        auth_type: "member_apikey",
        key_prefix: "acme-k-2-aaaa",
      },
    ],
    [
      "a session",
      spell("GET", "/org/1", { "X-API-Key": SESSION }),
      {
        route: "/org/{id}",
        method: "GET",
        status: 200,
        organization_id: "o1",
        member_id: "m1",
        auth_type: "member_session",
        key_prefix: "acme-s-2-bbbb",
      },
    ],
    [
      "a user's key",
      spell("GET", "/user/1", { "X-API-Key": USER_KEY }),
      {
        route: "/user/{id}",
        method: "GET",
        status: 200,
        user_id: "u1",
        auth_type: "user_apikey",
        key_prefix: "acme-k-2-cccc",
      },
    ],
    [
      "a key of known shape that is not valid",
      spell("GET", "/org/1", { "X-API-Key": UNKNOWN_KEY }),
      { route: "/org/{id}", method: "GET", status: 401, key_prefix: "acme-k-2-dddd" },
    ],
    [
      "a key of no known shape, of which nothing is said",
      spell("GET", "/org/1", { "X-API-Key": "hunter2-hunter2" }),
      { route: "/org/{id}", method: "GET", status: 401 },
    ],
    ["an unmatched path", spell("GET", "/nowhere/4711"), { route: "unmatched", method: "GET", status: 404 }],
    ["a preflight", spell("OPTIONS", "/public/1"), { route: "preflight", method: "OPTIONS", status: 204 }],
  ];
  test.each(table)("%s", async (_, bytes, fields) => {
    expect(await lineOf(bytes)).toEqual({ ...common, ...fields });
  });
});

// OP-39
describe("the log line of a 5xx has the kind of the error and its reason, without secrets:", () => {
  const failed = { ...common, level: "error", message: "request failed", error_kind: "network" };

  test("a service that refuses connections", async () => {
    expect(await lineOf(spell("GET", "/dead?token=secret"))).toEqual({
      ...failed,
      route: "/dead",
      method: "GET",
      status: 502,
      error_message: expect.stringContaining("could not be reached"),
    });
  });

  test("a service's own 5xx, which differs from the gateway's", async () => {
    service.handler = () => "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
    const line = await lineOf(spell("GET", "/public/1"));
    expect(line).toMatchObject({
      status: 503,
      error_kind: "internal",
      error_message: "The service responded with 503.",
    });
  });

  test("a malformed response", async () => {
    service.handler = () => "HTTP/1.1 200 OK\nX: secret\n\n";
    expect(await lineOf(spell("GET", "/public/1"))).toMatchObject({
      status: 502,
      error_message: "The response is malformed. The status line has a control byte.",
    });
  });

  test("a response that broke off", async () => {
    service.handler = (_, socket) => {
      socket.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
      setTimeout(() => socket.end(), 20);
      return null;
    };
    expect(await lineOf(spell("GET", "/public/1"))).toMatchObject({
      message: "request failed",
      status: 200,
      error_kind: "network",
      error_message: expect.stringContaining("broke off"),
    });
  });
});

// OP-41
test("a client that disconnects is logged as 499, once", async () => {
  const reached = Promise.withResolvers<string>();
  service.handler = (request) => {
    reached.resolve(headerValue(request.headers, "x-request-id") ?? "");
    return null;
  };
  const client = await RawClient.connect(gateway.url);
  client.send(spell("GET", "/public/1"));
  const id = await reached.promise;
  client.destroy();
  expect(await gateway.logOf(id)).toMatchObject({ ...common, route: "/public/{id}", status: 499 });
  expect(gateway.logs().filter((line) => line.request_id === id).length).toBe(1);
});

describe("metrics", () => {
  // OP-46, OP-50
  test("include those of stores, the process and audit writes, and are not on the public port", async () => {
    const text = await gateway.metrics();
    for (const name of [
      "db_operations_total",
      "db_operation_errors_total",
      "db_operation_duration_seconds",
      "process_resident_memory_bytes",
      "process_cpu_seconds_total",
      "process_start_time_seconds",
      "audit_writes_total",
      "audit_intent_duration_seconds",
    ]) {
      expect(text).toContain(`# TYPE ${name} `);
    }
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(404);
  });
});

describe("a gateway", () => {
  // GW-160, OP-25
  test("is always live, but ready only with a key set", async () => {
    expect(await (await fetch(`${gateway.internalUrl}/health/live`)).json()).toEqual({ status: "healthy" });
    const ready = await fetch(`${gateway.internalUrl}/health/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({
      status: "unhealthy",
      checks: { key_set: "unavailable", counter_store: "ok" },
    });
  });

  // GW-29, GW-160
  test("is ready with a key set, even without any routes", async () => {
    await using keys = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => Response.json({ keys: publicKeys }),
    });
    await using empty = await startLocalGateway({
      AUTH_ISSUER: "https://idp.example",
      AUTH_JWKS_URI: `${keys.url}jwks`,
    });
    const body = await waitFor(async () => {
      const ready = await fetch(`${empty.internalUrl}/health/ready`);
      return ready.status === 200 && ready.json();
    });
    expect(body).toEqual({ status: "healthy" });
  });

  // OP-15
  test("asks the counter store before it listens, and logs if there is no response", async () => {
    const counterStore = await openCounterStore("memory://");
    counterStore.ping = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error("away");
    };
    await using alone = await startLocalGateway({}, { counterStore });
    const lines = await waitFor(() => {
      const told = alone.logs().map(({ message }) => String(message));
      return told.includes("listening") && told;
    });
    const silence = lines.findIndex((line) => line.startsWith("the counter store (COUNTER_STORE_URL)"));
    expect(silence).toBeWithin(0, lines.indexOf("listening"));
    expect(await (await fetch(`${alone.internalUrl}/health/ready`)).json()).toMatchObject({
      checks: { counter_store: "unavailable" },
    });
  });
});
