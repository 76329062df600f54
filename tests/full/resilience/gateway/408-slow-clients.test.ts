/** Tests of clients that idle, pause or send slowly (GW-119 to GW-122). */
import { afterAll, describe, expect, test } from "bun:test";
import { useGateway, useService } from "../../../app/gateway/bed.ts";
import { publicService } from "../../../support/gateway/gateway.ts";
import { GatewayNeighbours, MEMBER_KEY } from "../../../support/gateway/neighbours.ts";
import {
  chunk,
  EVENTS,
  headerValue,
  OK,
  OK_CLOSE,
  RawClient,
  type RawResponse,
  type RawSocket,
  spell,
} from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/index.ts";

const BODY_TIMEOUT_MS = 400;
/**
 * The maximum time until an idle connection is closed. The runtime checks idle timeouts every four seconds.
 */
const RUNTIME_MS = 20_000;
const LARGE = 200_000;

const service = useService({ atHead: true });
const webSockets = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request, server) => (server.upgrade(request) ? undefined : new Response(null, { status: 400 })),
  websocket: { message() {} },
});
const neighbours = new GatewayNeighbours();
const { audit } = neighbours;
const gateway = useGateway(
  {
    CLIENT_IDLE_TIMEOUT_MS: "1000",
    CLIENT_BODY_TIMEOUT_MS: String(BODY_TIMEOUT_MS),
    ...neighbours.env,
  },
  () => ({
    things: {
      url: service.url,
      public: { routes: [{ path: "/things", methods: ["GET", "POST", "PUT", "DELETE"] }] },
      organization: { routes: [{ path: "/audited", methods: ["POST", "PUT"], audit: true }] },
    },
    sockets: publicService(`http://127.0.0.1:${webSockets.port}`, { path: "/socket", methods: ["GET"] }),
  }),
);
afterAll(() => Promise.all([neighbours.stop(), webSockets.stop(true)]));

const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
const requestId = ({ headers }: RawResponse) => headerValue(headers, "x-request-id") ?? "";

function expectTimeout(response: RawResponse): void {
  expect({ status: response.status, complete: response.complete }).toEqual({ status: 408, complete: true });
  expect(headerValue(response.headers, "connection")).toBe("close");
  expect(JSON.parse(response.body.toString())).toEqual({
    error: {
      type: "invalid_request_error",
      code: "REQUEST_TIMEOUT",
      message: "The request body did not arrive in time.",
      request_id: requestId(response),
      details: null,
    },
  });
}

/** Cases of a pause: the headers, the part of the body before the pause, and the outcome in the audit log. */
const pauses: [what: string, headers: Record<string, string>, part: string, outcome: string][] = [
  ["nothing of a small body", { "Content-Length": "10" }, "", "rejected"],
  ["a part of a small body", { "Content-Length": "10" }, "abc", "rejected"],
  ["nothing of a large body", { "Content-Length": String(LARGE) }, "", "no_response"],
  ["half of a large body", { "Content-Length": String(LARGE) }, "x".repeat(LARGE / 2), "no_response"],
  ["nothing of a chunked body", { "Transfer-Encoding": "chunked" }, "", "no_response"],
  ["a part of a chunked body", { "Transfer-Encoding": "chunked" }, chunk("abc"), "no_response"],
  ["half of a chunk", { "Transfer-Encoding": "chunked" }, "5\r\nab", "no_response"],
];

// GW-119, GW-142, GW-144
describe("a request gets 408 when its body stops arriving before the response has started", () => {
  test.each(pauses)("after %s", async (_, headers, part, outcome) => {
    service.handler = () => null;
    const client = await RawClient.connect(gateway.url);
    client.send(spell("POST", "/audited", { ...headers, "X-API-Key": MEMBER_KEY }) + part);
    const response = await client.response("POST");
    expectTimeout(response);
    await client.untilClosed();
    await waitFor(() => service.open === 0, { what: "the call of the service ending" });
    for (const socket of service.sockets) {
      expect(socket.received.toString("latin1")).not.toEndWith("0\r\n\r\n");
    }
    if (outcome === "rejected") expect(service.requests).toEqual([]);
    expect(await gateway.logOf(requestId(response))).toMatchObject({ status: 408, level: "info" });
    const written = () => audit.of("PATCH").find(({ path }) => path.endsWith(requestId(response)));
    await waitFor(written, { what: "the outcome" });
    expect(written()?.body).toEqual({ outcome, status: 408 });
  });

  describe("with different timeouts for client and service", () => {
    const patient = useGateway({ CLIENT_BODY_TIMEOUT_MS: "900", UPSTREAM_TIMEOUT_MS: "300" }, () => ({
      things: publicService(service.url, { path: "/things", methods: ["POST"] }),
    }));

    // GW-120
    test("a pause of the client is a 408, not a timeout of the service", async () => {
      service.handler = () => null;
      const client = await RawClient.connect(patient.url);
      client.send(spell("POST", "/things", { "Content-Length": String(LARGE) }, "x".repeat(LARGE / 2)));
      expectTimeout(await client.response("POST"));
    });
  });
});

describe("connections", () => {
  const COUNT = 40;

  /**
   * Ways to become idle: the first request, and bytes that the client then sends slowly after its response.
   */
  const idlers: [what: string, request: string, dribble: string][] = [
    ["after a 200", spell("GET", "/things"), ""],
    ["after a streamed response", spell("GET", "/things?stream"), ""],
    ["after an event stream", spell("GET", "/things?events"), ""],
    ["after a body without type", spell("GET", "/things?untyped"), ""],
    ["after a POST", spell("POST", "/things", { "Content-Length": "2" }, "hi"), ""],
    ["after a 404", spell("GET", "/nowhere"), ""],
    ["after a preflight", spell("OPTIONS", "/things"), ""],
    ["after a 401", spell("POST", "/audited", { "Content-Length": "2" }, "hi"), ""],
    [
      "within a body that got an early response",
      spell("POST", "/nowhere", { "Content-Length": "100" }, "hi"),
      "",
    ],
    [
      "within the head of a second request",
      spell("GET", "/things"),
      spell("GET", "/things", { "X-A": "a".repeat(200) }),
    ],
  ];

  const responses: Record<string, string> = {
    "/things?stream": `${chunkedHead}${chunk("one")}0\r\n\r\n`,
    "/things?events": `${EVENTS}${chunk("data: one\n\n")}0\r\n\r\n`,
    "/things?untyped": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
  };

  // GW-122
  test("that are idle are closed; connections with a request in flight stay open", async () => {
    const held = new Map<string, RawSocket>();
    service.handler = ({ target }, socket) => {
      if (target.startsWith("/things?held")) held.set(target, socket);
      if (target === "/things?held-event-stream") return EVENTS;
      if (target === "/things?held-stream") return chunkedHead + chunk("one");
      return target.startsWith("/things?held") ? null : (responses[target] ?? OK);
    };
    const busy = await Promise.all(
      ["held-response", "held-event-stream", "held-stream"].map(async (name) => {
        const client = await RawClient.connect(gateway.url);
        client.send(spell("GET", `/things?${name}`));
        return client;
      }),
    );
    const upload = await RawClient.connect(gateway.url);
    upload.send(spell("POST", "/things?held-upload", { "Transfer-Encoding": "chunked" }));
    const uploading = setInterval(() => upload.send(chunk("more")), BODY_TIMEOUT_MS / 8);
    await waitFor(() => held.size === 4, { what: "every long request to reach the service" });

    const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/socket`);
    await waitFor(() => socket.readyState === WebSocket.OPEN);

    const idle = await Promise.all(Array.from({ length: COUNT }, () => RawClient.connect(gateway.url)));
    await Promise.all(
      idle.map(async (client, index) => {
        const [, request = "", dribble = ""] = idlers[index % idlers.length] ?? [];
        client.send(request);
        expect((await client.response(request.split(" ")[0])).complete).toBe(true);
        const rest = [...dribble].values();
        const timer = setInterval(() => {
          const next = rest.next();
          if (client.closed || next.done) clearInterval(timer);
          else client.send(next.value);
        }, 500);
      }),
    );
    const open = () =>
      idle.flatMap(({ closed }, index) => (closed ? [] : [idlers[index % idlers.length]?.[0]]));
    await waitFor(() => open().length === 0, {
      timeoutMs: RUNTIME_MS,
      what: "every idle connection closing",
    });

    clearInterval(uploading);
    upload.send("0\r\n\r\n");
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.close();
    for (const [target, upstream] of held) {
      const streams = target.includes("stream");
      upstream.send(streams ? `${chunk("data: last\n\n")}0\r\n\r\n` : OK_CLOSE);
    }
    for (const client of [...busy, upload]) {
      const response = await client.response(client === upload ? "POST" : "GET");
      expect({ status: response.status, complete: response.complete }).toEqual({
        status: 200,
        complete: true,
      });
      client.destroy();
    }
  });
});
