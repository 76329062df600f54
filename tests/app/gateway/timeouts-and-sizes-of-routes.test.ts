/** Tests of `timeout_ms` and `max_body_bytes` of services and routes (GW-224). */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import type { LocalGateway } from "../../support/gateway/gateway.ts";
import { handshake } from "../../support/gateway/raw-websocket.ts";
import { ELSEWHERE, READER, StepsBed, USER, WRITER } from "../../support/gateway/steps-bed.ts";
import {
  chunk,
  headerValue,
  OK,
  RawClient,
  type RawResponse,
  type RawSocket,
  RawUpstream,
  rawRequest,
  spell,
} from "../../support/http/raw-http.ts";
import { waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { useGateway } from "./bed.ts";

const SHORT_MS = 100;
const TEN_MINUTES_MS = 600_000;
const DEFAULT_BYTES = 1_000;
const TIB = 1_099_511_627_776;
const EVENTS_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";

const methods: ("GET" | "POST")[] = ["GET", "POST"];
const service = new RawUpstream();
afterAll(() => service.close());
beforeEach(() => {
  service.handler = () => OK;
  service.requests.length = 0;
});

/** Returns services whose routes are named after the bounds that apply to them. */
function services(): Record<string, StoredServiceConfig> {
  const { url } = service;
  const routes = (...all: object[]) => ({ routes: all.map((each) => ({ path: "", methods, ...each })) });
  return {
    plain: { url, public: routes({ path: "/default" }) },
    patient: {
      url,
      timeout_ms: TEN_MINUTES_MS,
      max_body_bytes: 10,
      public: routes(
        { path: "/patient" },
        { path: "/short", timeout_ms: SHORT_MS },
        { path: "/large", max_body_bytes: 20 },
        { path: "/unlimited", max_body_bytes: 0 },
        { path: "/largest", max_body_bytes: TIB },
      ),
    },
  };
}

async function open(gateway: LocalGateway, bytes: string): Promise<RawClient> {
  const client = await RawClient.connect(gateway.url);
  client.send(bytes);
  return client;
}

const get = (gateway: LocalGateway, target: string) => rawRequest(gateway.url, spell("GET", target));

describe.each(["pool", "fetch"])("with UPSTREAM_CLIENT=%s", (client) => {
  const hasty = useGateway(
    {
      UPSTREAM_CLIENT: client,
      UPSTREAM_TIMEOUT_MS: String(SHORT_MS),
      UPSTREAM_IDLE_TIMEOUT_MS: String(SHORT_MS),
      MAX_BODY_BYTES: String(DEFAULT_BYTES),
    },
    services,
  );

  // GW-169
  test("connections are counted only if they are the gateway's own", async () => {
    expect((await get(hasty, "/default")).status).toBe(200);
    const series = 'gateway_upstream_connections_opened_total{service="plain"} ';
    expect((await hasty.metrics()).includes(series)).toBe(client === "pool");
  });

  // GW-224
  test("a service's timeout replaces the gateway's, and a route's replaces its service's", async () => {
    const held: RawSocket[] = [];
    service.handler = (request, socket) => {
      if (request.target === "/patient") held.push(socket);
      return null;
    };
    const waiting = await open(hasty, spell("GET", "/patient"));
    await waitFor(() => held.length > 0);
    for (const target of ["/default", "/short", "/short"]) {
      expect((await get(hasty, target)).status).toBe(502);
    }
    expect(waiting.received).toHaveLength(0);
    held[0]?.send(OK);
    expect((await waiting.response()).status).toBe(200);
    waiting.destroy();
  });

  // GW-224
  test("a longer timeout also replaces the time between two chunks, and a shorter one does not", async () => {
    const begun = new Map<string, RawSocket>();
    service.handler = (request, socket) => {
      socket.send(EVENTS_HEAD + chunk("first"));
      begun.set(request.target, socket);
      return null;
    };
    const waiting = await open(hasty, spell("GET", "/patient"));
    await waitFor(() => waiting.received.includes("first"));
    expect(await get(hasty, "/default")).toMatchObject({ status: 200, complete: false });
    expect(await get(hasty, "/short")).toMatchObject({ status: 200, complete: false });
    begun.get("/patient")?.send(`${chunk("last")}0\r\n\r\n`);
    const response = await waiting.response();
    expect(response).toMatchObject({ status: 200, complete: true });
    expect(response.body.toString()).toBe("firstlast");
    waiting.destroy();
  });

  const declared = (target: string, bytes: number) =>
    spell("POST", target, { "Content-Length": String(bytes) }, "x".repeat(bytes));
  const streamed = (target: string, bytes: number) =>
    spell("POST", target, { "Transfer-Encoding": "chunked" }, `${chunk("x".repeat(bytes))}0\r\n\r\n`);

  // GW-113, GW-114, GW-224
  test.each([
    ["of the gateway", "/default", DEFAULT_BYTES],
    ["of a service", "/patient", 10],
    ["of a route", "/large", 20],
  ])("the largest body %s passes, and one byte more is 413", async (_, target, bytes) => {
    for (const send of [declared, streamed]) {
      expect((await rawRequest(hasty.url, send(target, bytes))).status).toBe(200);
      const refused = await rawRequest(hasty.url, send(target, bytes + 1));
      expect([refused.status, detailsOf(refused)]).toEqual([413, { max_size_bytes: bytes }]);
    }
  });

  // GW-224
  test.each(["/unlimited", "/largest"])("%s takes a body above the gateway's limit", async (target) => {
    for (const send of [declared, streamed]) {
      expect((await rawRequest(hasty.url, send(target, 200_000))).status).toBe(200);
      expect(service.requests.at(-1)?.body).toHaveLength(200_000);
    }
  });

  // GW-224
  test("a change of bounds takes effect when the gateway loads it", async () => {
    const { url } = service;
    const publish = (bounds: object) =>
      hasty.publish({ changing: { url, public: { routes: [{ path: "/changing", methods, ...bounds }] } } });
    for (const [bounds, status] of [
      [{ max_body_bytes: 1 }, 413],
      [{ max_body_bytes: 2 }, 200],
      [{}, 200],
      [{ max_body_bytes: 1 }, 413],
    ] as const) {
      await publish(bounds);
      expect((await rawRequest(hasty.url, declared("/changing", 2))).status).toBe(status);
    }
  });
});

function detailsOf(response: RawResponse): unknown {
  return JSON.parse(response.body.toString()).error.details;
}

describe("in a gateway with long timeouts", () => {
  const patient = useGateway({ UPSTREAM_TIMEOUT_MS: String(TEN_MINUTES_MS) }, services);

  // GW-224
  test("a shorter timeout of a route ends a request", async () => {
    service.handler = () => null;
    expect((await get(patient, "/short")).status).toBe(502);
  });

  // GW-129, GW-224
  test("a shorter timeout of a route ends the handshake of a WebSocket", async () => {
    service.handler = () => null;
    const client = await open(patient, handshake("/short"));
    expect((await client.response()).status).toBe(502);
    client.destroy();
  });
});

describe("a service that hangs for ten minutes takes no place of others:", () => {
  const MAX = 16;
  const SHARE = MAX / 8;
  const HELD_MAX = MAX / 2 + SHARE;
  const CONNECTIONS = 4;
  const bed = new StepsBed();
  const hanging = new RawUpstream(() => null);
  const env = { ...bed.env, AUDIT_ENABLED: "false" };
  const both = () => ({
    hanging: {
      url: hanging.url,
      timeout_ms: TEN_MINUTES_MS,
      organization: { routes: [{ path: "/hangs", methods }] },
      public: { routes: [{ path: "/hangs/for-all", methods }] },
    },
    twin: {
      url: hanging.url,
      timeout_ms: TEN_MINUTES_MS,
      user: { routes: [{ path: "/hangs/mine", methods }] },
    },
    quick: {
      url: bed.service.url,
      public: { routes: [{ path: "/quick/for-all", methods }] },
      organization: { routes: [{ path: "/quick", methods }] },
      user: { routes: [{ path: "/quick/mine", methods }] },
    },
  });
  const crowded = useGateway({ ...env, MAX_REQUESTS_IN_FLIGHT: String(MAX) }, both);
  const narrow = useGateway({ ...env, MAX_UPSTREAM_REQUESTS: String(CONNECTIONS) }, both);
  afterAll(async () => {
    await bed.stop();
    bed.service.close();
    hanging.close();
  });

  const inFlight = (gateway: LocalGateway) => metricOf(gateway, "gateway_requests_in_flight");
  const asked = (key: string | null, target: string) =>
    spell("GET", target, key === null ? {} : { "X-API-Key": key });

  async function expectOthersServed(gateway: LocalGateway): Promise<void> {
    for (let count = 0; count < 10; count += 1) {
      for (const [key, target] of [
        [ELSEWHERE, "/quick"],
        [USER, "/quick/mine"],
        [null, "/quick/for-all"],
      ] as const) {
        expect((await rawRequest(gateway.url, asked(key, target))).status).toBe(200);
      }
    }
  }

  // GW-167, GW-233, GW-224
  test.each([
    ["its caller keeps", WRITER, "/hangs", READER, 429],
    ["its public routes keep", null, "/hangs/for-all", null, 503],
  ] as const)("%s to a share of the requests in flight", async (_, key, target, next, status) => {
    const clients: RawClient[] = [];
    for (let held = 1; held <= HELD_MAX; held += 1) {
      clients.push(await open(crowded, asked(key, target)));
      await waitFor(async () => (await inFlight(crowded)) === held);
    }
    const shares = "gateway_shares_refused_total";
    const before = await metricOf(crowded, shares);
    const refused = await rawRequest(crowded.url, asked(next, target));
    expect(refused.status).toBe(status);
    expect((await metricOf(crowded, shares)) - before).toBe(status === 429 ? 1 : 0);
    expect(headerValue(refused.headers, "retry-after")).toBe("1");
    expect(headerValue(refused.headers, "connection")).toBe("close");
    await expectOthersServed(crowded);
    for (const client of clients) client.destroy();
    await waitFor(async () => (await inFlight(crowded)) === 0);
  });

  // GW-234, GW-224
  test("all its callers together leave a share to other addresses, whatever name its address has", async () => {
    const clients: RawClient[] = [];
    const callers = [
      [WRITER, "/hangs", MAX / 2 + SHARE],
      [ELSEWHERE, "/hangs", SHARE],
      [null, "/hangs/for-all", SHARE],
    ] as const;
    for (const [key, target, count] of callers) {
      for (let held = 0; held < count; held += 1) {
        clients.push(await open(crowded, asked(key, target)));
        await waitFor(async () => (await inFlight(crowded)) === clients.length);
      }
    }
    const refused = 'gateway_requests_refused_total{cause="share"}';
    const before = await metricOf(crowded, refused);
    expect((await rawRequest(crowded.url, asked(USER, "/hangs/mine"))).status).toBe(503);
    expect((await metricOf(crowded, refused)) - before).toBe(1);
    for (let count = 0; count < 10; count += 1) {
      expect((await rawRequest(crowded.url, asked(USER, "/quick/mine"))).status).toBe(200);
      expect((await rawRequest(crowded.url, asked(null, "/quick/for-all"))).status).toBe(200);
    }
    for (const client of clients) client.destroy();
    await waitFor(async () => (await inFlight(crowded)) === 0);
  });

  // GW-123, GW-125, GW-224
  test("its calls leave the other connections free, and end with their clients", async () => {
    for (const _round of [1, 2, 3]) {
      hanging.requests.length = 0;
      const clients = await Promise.all(
        Array.from({ length: CONNECTIONS - 1 }, () => open(narrow, asked(WRITER, "/hangs"))),
      );
      await waitFor(() => hanging.requests.length === CONNECTIONS - 1);
      await expectOthersServed(narrow);
      for (const client of clients) client.destroy();
      await waitFor(async () => (await inFlight(narrow)) === 0);
    }
  });
});
